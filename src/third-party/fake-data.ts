import type { Faker, Randomizer } from '@faker-js/faker'
import type { JsonValue } from '../domain/json.ts'
import type { Clock, Ids } from '../domain/ports.ts'
import { lazyImport } from '../lazy-import.ts'

const loadFaker = lazyImport(() => import('@faker-js/faker/locale/en'))

/**
 * The modules that only produce data. `helpers` is not among them, because it evaluates templates and patterns of its own;
 * neither are the members that set seeds and reference dates.
 */
const FAKE_MODULES = [
  'airline',
  'animal',
  'book',
  'color',
  'commerce',
  'company',
  'database',
  'datatype',
  'date',
  'finance',
  'food',
  'git',
  'hacker',
  'image',
  'internet',
  'location',
  'lorem',
  'music',
  'number',
  'person',
  'phone',
  'science',
  'string',
  'system',
  'vehicle',
  'word',
] as const
type FakeModule = (typeof FAKE_MODULES)[number]

/** What is wrong with a method's name, without loading the library. */
export function fakeNameProblem(name: string): string | undefined {
  const [module = '', method, ...rest] = name.split('.')
  if (method === undefined || method === '' || rest.length > 0)
    return `faker '${name}': the name has the form module.method`
  if (!isFakeModule(module))
    return `faker '${name}': unknown module '${module}'; allowed are ${FAKE_MODULES.join(', ')}`
  return undefined
}

/** Generated data: the same seed, clock and name give the same value. */
export class FakeData {
  readonly #faker: Faker
  /** Methods by name; bounded, since there are no more names than the library has. */
  readonly #methods = new Map<string, FakeMethod>()

  private constructor(faker: Faker) {
    this.#faker = faker
  }

  /** Loads one locale when a template first needs it, because importing it is slow. */
  static async load(): Promise<FakeData> {
    const { faker } = await loadFaker()
    // Importing the class itself would load every locale.
    const ownFaker = faker.constructor as typeof Faker
    return new FakeData(new ownFaker({ locale: faker.rawDefinitions, randomizer: new MersenneTwister() }))
  }

  /**
   * Calls `module.method`. The library is seeded before each use, so values do not depend on earlier calls.
   */
  generate(name: string, args: readonly JsonValue[], ports: { clock: Clock; ids: Ids }): JsonValue {
    const method = this.#methods.get(name) ?? this.#method(name)
    this.#faker.seed(ports.ids.number())
    this.#faker.setDefaultRefDate(ports.clock.now())
    const value: unknown = method(...args)
    return plain(value)
  }

  #method(name: string): FakeMethod {
    const problem = fakeNameProblem(name)
    if (problem !== undefined) throw new Error(problem)
    const [moduleName = '', methodName = ''] = name.split('.')
    const module: object = this.#faker[moduleName as FakeModule]
    const names = methodNames(module)
    const method: unknown = names.includes(methodName) ? Reflect.get(module, methodName) : undefined
    if (typeof method !== 'function') {
      throw new Error(`faker '${name}': unknown method; ${moduleName} has ${names.join(', ')}`)
    }
    const found: FakeMethod = (...args) => Reflect.apply(method, module, args) as unknown
    this.#methods.set(name, found)
    return found
  }
}

type FakeMethod = (...args: unknown[]) => unknown

function isFakeModule(name: string): name is FakeModule {
  return (FAKE_MODULES as readonly string[]).includes(name)
}

/** The methods of a module are on its class, or bound on the instance. */
function methodNames(module: object): string[] {
  const names = new Set<string>()
  for (let at: object = module; at !== Object.prototype; at = Object.getPrototypeOf(at) as object) {
    for (const name of Object.getOwnPropertyNames(at)) {
      if (name !== 'constructor' && name !== 'faker' && typeof Reflect.get(module, name) === 'function') names.add(name)
    }
  }
  return [...names].sort()
}

function plain(value: unknown): JsonValue {
  if (typeof value === 'string') return value
  if (typeof value === 'bigint') return value.toString()
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as JsonValue)
}

const SIZE = 624
const MIDDLE = 397

/**
 * The same numbers as the library's own generator (MT19937, 53 bits each), but words are computed on demand. The library
 * computes all 624 words for each seed, of which one value needs a few: that took 30 µs, a tenth of a tool call.
 */
export class MersenneTwister implements Randomizer {
  readonly #words = new Uint32Array(SIZE)
  /** How many words follow from the seed so far. */
  #seeded = 1
  #at = 0

  seed(seed: number | number[]): void {
    if (typeof seed !== 'number') throw new TypeError('generated data is seeded with one number')
    this.#words[0] = seed
    this.#seeded = 1
    this.#at = 0
  }

  next(): number {
    const high = this.#next() >>> 5
    const low = this.#next() >>> 6
    return (high * 2 ** 26 + low) / 2 ** 53
  }

  #next(): number {
    const at = this.#at
    this.#seedUpTo(Math.min(at + MIDDLE, SIZE - 1))
    const mixed = (this.#word(at) & 0x80000000) | (this.#word((at + 1) % SIZE) & 0x7fffffff)
    let word = this.#word((at + MIDDLE) % SIZE) ^ (mixed >>> 1) ^ (mixed & 1 ? 0x9908b0df : 0)
    this.#words[at] = word
    this.#at = (at + 1) % SIZE
    word ^= word >>> 11
    word ^= (word << 7) & 0x9d2c5680
    word ^= (word << 15) & 0xefc60000
    return (word ^ (word >>> 18)) >>> 0
  }

  #seedUpTo(last: number): void {
    for (; this.#seeded <= last; this.#seeded++) {
      const before = this.#word(this.#seeded - 1)
      this.#words[this.#seeded] = Math.imul(1812433253, before ^ (before >>> 30)) + this.#seeded
    }
  }

  #word(at: number): number {
    return this.#words[at] ?? 0
  }
}
