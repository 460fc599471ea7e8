import type { Faker, Randomizer } from '@faker-js/faker'
import { jsonText, type JsonValue, parseJson } from '../../model/domain/json.ts'
import type { Clock, Ids } from '../../model/domain/ports.ts'
import { seededRandom } from '../../model/domain/seeded-random.ts'
import { didYouMean } from '../../model/domain/suggestion.ts'
import { lazyImport } from '../../model/domain/once.ts'
import { TemplateError } from './template-error.ts'

const loadFaker = lazyImport(() => import('@faker-js/faker/locale/en'))

/** Without `helpers`, which evaluates templates, and members that set seeds and dates. Names need no slow import. */
export const FAKE_METHODS = {
  airline: 'aircraftType airline airplane airport flightNumber recordLocator seat',
  animal: 'bear bird cat cetacean cow crocodilia dog fish horse insect lion petName rabbit rodent snake type',
  book: 'author format genre publisher series title',
  color: 'cmyk colorByCSSColorSpace cssSupportedFunction cssSupportedSpace hsl human hwb lab lch rgb space',
  commerce: 'department isbn price product productAdjective productDescription productMaterial productName upc',
  company:
    'buzzAdjective buzzNoun buzzPhrase buzzVerb catchPhrase catchPhraseAdjective catchPhraseDescriptor catchPhraseNoun name',
  database: 'collation column engine mongodbObjectId type',
  datatype: 'boolean',
  date: 'anytime between betweens birthdate future month past recent soon timeZone weekday',
  finance:
    'accountName accountNumber amount bic bitcoinAddress creditCardCVV creditCardIssuer creditCardNumber currency currencyCode currencyName currencyNumericCode currencySymbol ethereumAddress iban litecoinAddress pin routingNumber transactionDescription transactionType',
  food: 'adjective description dish ethnicCategory fruit ingredient meat spice vegetable',
  git: 'branch commitDate commitEntry commitMessage commitSha',
  hacker: 'abbreviation adjective ingverb noun phrase verb',
  image: 'avatar avatarGitHub dataUri personPortrait url urlLoremFlickr urlPicsumPhotos',
  internet:
    'displayName domainName domainSuffix domainWord email emoji exampleEmail httpMethod httpStatusCode ip ipv4 ipv6 jwt jwtAlgorithm mac password port protocol url userAgent username',
  location:
    'buildingNumber cardinalDirection city continent country countryCode county direction language latitude longitude nearbyGPSCoordinate ordinalDirection secondaryAddress state street streetAddress timeZone zipCode',
  lorem: 'lines paragraph paragraphs sentence sentences slug text word words',
  music: 'album artist genre songName',
  number: 'bigInt binary float hex int octal romanNumeral',
  person:
    'bio firstName fullName gender jobArea jobDescriptor jobTitle jobType lastName middleName prefix sex sexType suffix zodiacSign',
  phone: 'imei number',
  science: 'chemicalElement unit',
  string: 'alpha alphanumeric binary fromCharacters hexadecimal nanoid numeric octal sample symbol ulid uuid',
  system:
    'commonFileExt commonFileName commonFileType cron directoryPath fileExt fileName filePath fileType mimeType networkInterface semver',
  vehicle: 'bicycle color fuel manufacturer model type vehicle vin vrm',
  word: 'adjective adverb conjunction interjection noun preposition sample verb words',
} as const
type FakeModule = keyof typeof FAKE_METHODS
const FAKE_MODULES = Object.keys(FAKE_METHODS)

/** What is wrong with a method's name, without loading the library. */
export function fakeNameProblem(name: string): string | undefined {
  const [module = '', method, ...extraNames] = name.split('.')
  if (method === undefined || method === '' || extraNames.length > 0)
    return `faker '${name}': the name has the form module.method`
  if (!isFakeModule(module))
    return `faker '${name}': unknown module '${module}'${didYouMean(module, FAKE_MODULES)}; allowed are ${FAKE_MODULES.join(', ')}`
  const methods = FAKE_METHODS[module].split(' ')
  if (methods.includes(method)) return undefined
  const full = methods.map((each) => `${module}.${each}`)
  return `faker '${name}': unknown method${didYouMean(name, full)}; ${module} has ${methods.join(', ')}`
}

/** Counts what is made, and throws once it is too much. */
interface Budget {
  step(): void
  value(value: JsonValue): void
}

/** Generated data: the same seed, clock and name give the same value. */
export class FakeData {
  readonly #faker: Faker
  /** Methods by name; bounded, since there are no more names than the library has. */
  readonly #methods = new Map<string, FakeMethod>()

  readonly #numbers: CountedNumbers

  private constructor(faker: Faker, numbers: CountedNumbers) {
    this.#faker = faker
    this.#numbers = numbers
  }

  /** Loads one locale when a template first needs it, because importing it is slow. */
  static async load(): Promise<FakeData> {
    const { faker } = await loadFaker()
    // Importing the class itself would load every locale.
    const ownFaker = faker.constructor as typeof Faker
    const randomizer = new CountedNumbers()
    return new FakeData(new ownFaker({ locale: faker.rawDefinitions, randomizer }), randomizer)
  }

  /** Seeded before each use, so that values do not depend on earlier calls. @throws TemplateError */
  generate(
    name: string,
    args: readonly JsonValue[],
    { clock, ids, budget }: { clock: Clock; ids: Ids; budget: Budget },
  ): JsonValue {
    const method = this.#methods.get(name) ?? this.#fakeMethod(name)
    checkAmounts(name, args)
    this.#faker.seed(ids.number())
    this.#faker.setDefaultRefDate(clock.now())
    this.#numbers.budget = budget
    try {
      const value = fakeJson(method(...args))
      budget.value(value)
      return value
    } catch (error) {
      if (error instanceof TemplateError) throw error
      throw new TemplateError(
        `faker '${name}' cannot be made: ${error instanceof Error ? error.message : String(error)}`,
      )
    }
  }

  #fakeMethod(name: string): FakeMethod {
    const problem = fakeNameProblem(name)
    if (problem !== undefined) throw new TemplateError(problem)
    const [moduleName = '', methodName = ''] = name.split('.')
    const module: object = this.#faker[moduleName as FakeModule]
    const method = Reflect.get(module, methodName) as FakeMethod
    const bound: FakeMethod = (...args) => Reflect.apply(method, module, args)
    this.#methods.set(name, bound)
    return bound
  }
}

/** Of what generated data is asked for: `length`, `count`. */
export const MAX_GENERATED = 10_000

/** Modules whose numbers say how much is made; those of the others are values. */
const AMOUNTS: readonly string[] = ['airline', 'color', 'git', 'internet', 'lorem', 'phone', 'string', 'system', 'word']

/** Data that takes no random number, such as a text of one character, would have no other limit. @throws TemplateError */
function checkAmounts(name: string, args: readonly JsonValue[]): void {
  const isAmount = AMOUNTS.includes(name.split('.', 1).join())
  const check = (value: JsonValue | undefined, counts: boolean): void => {
    if (typeof value === 'number' && counts && value > MAX_GENERATED)
      throw new TemplateError(`faker '${name}' makes at most ${MAX_GENERATED}; found ${value}`)
    if (typeof value !== 'object' || value === null) return
    for (const [key, item] of Object.entries(value)) check(item, counts || key === 'count' || key === 'length')
  }
  for (const arg of args) check(arg, isAmount)
}

type FakeMethod = (...args: unknown[]) => unknown

function isFakeModule(name: string): name is FakeModule {
  return Object.hasOwn(FAKE_METHODS, name)
}

function fakeJson(value: unknown): JsonValue {
  if (typeof value === 'string') return value
  if (typeof value === 'bigint') return value.toString()
  return value === undefined ? null : parseJson(jsonText(value))
}

/** The library's own generator computes 624 words for each seed, of which one value needs a few: a tenth of a tool call. */
class CountedNumbers implements Randomizer {
  /** Each number is a step of it. */
  budget: Budget | undefined
  #next = seededRandom(0)

  seed(seed: number | number[]): void {
    this.#next = seededRandom(Number(seed))
  }

  next(): number {
    this.budget?.step()
    return this.#next()
  }
}
