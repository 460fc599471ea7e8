import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../../src/model/domain/json.ts'
import { checkTemplate, Templates } from '../../../src/service/third-party/template.ts'
import { TemplateError } from '../../../src/service/third-party/template-error.ts'
import { testEnvironment } from '../../support/environment.ts'

const VALUES: JsonObject = {
  input: {
    to: 'ada@example.com',
    count: 3,
    flag: false,
    tags: ['a', 'b'],
    nested: { deep: [{ id: 'x1' }] },
    markup: '<b>&"',
    nothing: null,
    blank: '',
    empty: [],
  },
  account: { identifier: 'ada@example.com' },
  person: 'Ada',
}

async function render(value: JsonValue, values: JsonObject = VALUES, seed = 1): Promise<JsonValue> {
  const templates = new Templates()
  const { clock, ids } = testEnvironment({ seed })
  await templates.prepare({ value })
  return templates.render(value, { values, clock, ids })
}

describe('templates', () => {
  it.each<[string, string, JsonValue]>([
    ['a text without expressions is itself', 'plain', 'plain'],
    ['a whole expression keeps a number', '{{input.count}}', 3],
    ['a whole expression keeps a boolean', '{{input.flag}}', false],
    ['a whole expression keeps a list', '{{input.tags}}', ['a', 'b']],
    ['a whole expression keeps an object', '{{input.nested}}', { deep: [{ id: 'x1' }] }],
    ['a list is read by position', '{{input.nested.deep.[0].id}}', 'x1'],
    ['a missing value is null', '{{input.none}}', null],
    ['a missing value is nothing inside a text', 'to: {{input.none}}.', 'to: .'],
    ['a number inside a text is written out', 'n={{input.count}}', 'n=3'],
    ['a list inside a text is JSON', 't={{input.tags}}', 't=["a","b"]'],
    ['markup is not escaped', 'm={{input.markup}}', 'm=<b>&"'],
    ['a literal is a value', '{{5}}', 5],
    ['if', '{{#if input.count}}yes{{else}}no{{/if}}', 'yes'],
    ['else', '{{#if input.flag}}yes{{else}}no{{/if}}', 'no'],
    ['else if', '{{#if input.flag}}a{{else if input.count}}b{{/if}}', 'b'],
    ['unless', '{{#unless input.flag}}off{{/unless}}', 'off'],
    ['an empty list is not true', '{{#if input.empty}}yes{{else}}no{{/if}}', 'no'],
    ['unless and else', '{{#unless input.count}}a{{else}}b{{/unless}}', 'b'],
    ['with and else, outside again', '{{#with input.none}}a{{else}}{{person}}{{/with}}', 'Ada'],
    ['two blocks up', '{{#each input.tags}}{{#with ../input.nested}}{{../../person}}{{/with}}{{/each}}', 'AdaAda'],
    ['each with its first', '{{#each input.tags}}{{#if @first}}[{{/if}}{{this}}{{/each}}', '[ab'],
    ['with', '{{#with input.nested}}{{deep.[0].id}}{{/with}}', 'x1'],
    ['each with its position', '{{#each input.tags}}{{@index}}{{this}}{{#unless @last}},{{/unless}}{{/each}}', '0a,1b'],
    ['each over an object', '{{#each account}}{{@key}}={{this}}{{/each}}', 'identifier=ada@example.com'],
    ['each over nothing', '{{#each input.none}}x{{else}}none{{/each}}', 'none'],
    ['each with names', '{{#each input.tags as |tag at|}}{{at}}{{tag}}{{/each}}', '0a1b'],
    ['the value around a block', '{{#each input.tags}}{{../person}}{{@root.input.count}}{{/each}}', 'Ada3Ada3'],
    ['a comment is nothing', 'a{{!-- note --}}b', 'ab'],
    ['json', '{{json input.tags}}', '["a","b"]'],
    ['default', '{{default input.none "none"}}', 'none'],
    ['sum of numbers and of texts that write them', "{{sum input.count '-5' 0.1 0.2}}", -1.7],
    ['sum of what is no number', '{{sum input.none input.tags}}', 0],
    ['sum is rounded to six decimals', '{{sum 0.1 0.2}} {{sum 0.0000014 0}}', '0.3 0.000001'],
    ['default keeps a value', '{{default input.count 9}}', 3],
    ['default keeps false', '{{default input.flag 9}}', false],
    ['default of null and of an empty text', '{{default input.nothing "a"}}{{default input.blank "b"}}', 'ab'],
    ['eq', '{{eq input.count 3}}', true],
    ['eq of unlike types', "{{eq input.count '3'}}", false],
    ['eq of what is missing and of null', '{{eq input.none input.nothing}}', true],
    ['a helper inside a helper', '{{#if (eq person "Ada")}}hello{{/if}}', 'hello'],
    ['without', "{{without account 'identifier'}}", {}],
    ['without of what is no object', "{{without input.count 'x'}}", 3],
    ['basic', '{{basic "user" "pass"}}', 'Basic dXNlcjpwYXNz'],
    ['basic without a password', '{{basic "user" input.none}}', 'Basic dXNlcjo='],
    ['basic without a name', '{{basic input.blank "pass"}}', 'Basic OnBhc3M='],
    ['basic of nothing', '{{basic input.none input.blank}}', null],
    ['now is the clock of the environment', '{{now}}', '2026-01-01T00:00:00.000Z'],
    [
      'now can be before and after that',
      "{{now '-2h'}} {{now '1d30m'}}",
      '2025-12-31T22:00:00.000Z 2026-01-02T00:30:00.000Z',
    ],
    ['date is a day', "{{date}} {{date '-1d'}}T10:00:00Z", '2026-01-01 2025-12-31T10:00:00Z'],
  ])('%s', async (_title, template, expected) => {
    expect(await render(template)).toEqual(expected)
  })

  it.each(['{{now input.markup}}', '{{date input.nested}}'])('throws a TemplateError for %s', async (template) => {
    await expect(render(template)).rejects.toBeInstanceOf(TemplateError)
  })

  it('id gives a new short id each time, without a prefix of its own', async () => {
    const value = (await render('msg_{{id}}/{{id}}')) as string
    expect(value).toMatch(/^msg_[a-z0-9]+\/[a-z0-9]+$/)
    const [first, second] = value.replace('msg_', '').split('/')
    expect(first).not.toBe(second)
  })

  it('uuid gives a version 4 UUID', async () => {
    expect(await render('{{uuid}}')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  it('evaluates templates in nested values and does not change keys', async () => {
    const rendered = await render({ '{{person}}': [{ deep: '{{person}}' }, 1, null] })
    expect(rendered).toEqual({ '{{person}}': [{ deep: 'Ada' }, 1, null] })
  })

  it('never evaluates a value as a template', async () => {
    const values = { input: { to: '{{now}} {{input.secret}}', secret: 'leak' } }
    expect(await render('{{input.to}}', values)).toBe('{{now}} {{input.secret}}')
    expect(await render('to {{input.to}}', values)).toBe('to {{now}} {{input.secret}}')
  })

  it.each(['constructor', '__proto__', 'toString', 'constructor.constructor', '__proto__.polluted', 'hasOwnProperty'])(
    'never reads from a prototype: %s',
    async (path) => {
      expect(await render(`{{input.${path}}}`)).toBeNull()
      expect(await render(`{{person.${path}}}`)).toBeNull()
      expect(await render(`{{input.tags.${path}}}`)).toBeNull()
      expect(await render(`{{#with input}}{{this.${path}}}{{/with}}`)).toBe('')
    },
  )

  it('reads an own key named __proto__ and renders it without changing a prototype', async () => {
    const values = { input: JSON.parse('{"__proto__": {"polluted": "yes"}}') as JsonObject }
    expect(await render('{{input.__proto__.polluted}}', values)).toBe('yes')
    const rendered = await render(JSON.parse('{"__proto__": "{{person}}"}') as JsonObject)
    expect(JSON.stringify(rendered)).toBe('{"__proto__":"Ada"}')
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  it('generated data repeats with the seed and follows the clock', async () => {
    const template = {
      name: "{{faker 'person.fullName'}}",
      n: "{{faker 'number.int' min=5 max=7}}",
      at: "{{faker 'date.past'}}",
    }
    const [first, again, other] = [await render(template), await render(template), await render(template, VALUES, 2)]
    expect(first).toEqual(again)
    expect(first).not.toEqual(other)
    const { n, at } = first as { n: number; at: string }
    expect([5, 6, 7]).toContain(n)
    expect(at < '2026-01-01T00:00:00.000Z' && at >= '2024-12-31').toBe(true)
  })

  it.each([
    ["{{faker 'person.constructor'}}", /unknown method/],
    ["{{faker 'person.nobody'}}", /unknown method; person has .*fullName/],
    ["{{faker 'person.faker'}}", /unknown method/],
    ["{{faker 'helpers.mustache' '{{x}}'}}", /unknown module 'helpers'/],
    ["{{faker 'seed.x'}}", /unknown module 'seed'/],
    ["{{faker 'constructor.constructor'}}", /unknown module/],
  ])('refuses the method %s for generated data', async (template, message) => {
    await expect(render(template)).rejects.toThrow(message)
  })
})

it.each([
  'plain',
  '{{id}}',
  '{{input.to}} {{#each input.tags}}{{this}}{{/each}}',
  "{{faker 'string.alphanumeric' 8}}",
  '{{basic input.a input.b}}',
  '{{#each input.tags as |tag|}}{{tag}}{{/each}}',
])('checkTemplate accepts %s', (template) => {
  expect(checkTemplate(template, ['input'])).toBeUndefined()
})

it.each([
  ['{{input.to', /Parse error/],
  ['{{#if input.to}}x', /Parse error/],
  ['{{shout input.to}}', /unknown helper 'shout'; allowed are id, uuid/],
  ['{{#loop input}}x{{/loop}}', /unknown block '#loop'; allowed are #each/],
  ['{{inptu.to}}', /unknown name or helper 'inptu' \(did you mean input\?\); allowed are input, account/],
  ['{{> partial}}', /partials/],
  ['{{* decorator}}', /partials and decorators/],
  ['{{json}}', /json takes 1 arguments/],
  ["{{now 'soon'}}", /now takes a duration, with - in front for the past/],
  ['{{sum 1}}', /sum takes 2 or more arguments/],
  ["{{eq input 'a' 'b'}}", /eq takes 2 arguments/],
  ["{{eq input 'a' b=1}}", /eq takes no named arguments/],
  ['{{#each}}x{{/each}}', /#each takes one argument/],
  ['{{#if input account}}x{{/if}}', /#if takes one argument/],
  ["{{date 'soon'}}", /date takes a duration/],
  ["{{now '1d' '2d'}}", /now takes 0 to 1 arguments/],
  ['{{faker input.name}}', /name in quotes/],
  ["{{faker 'helpers.fake' 'x'}}", /unknown module/],
  ['{{@secret}}', /unknown name '@secret'/],
  ['{{#each input as |id|}}x{{/each}}', /'id' is a helper/],
  ['{{constructor.constructor "return 1"}}', /unknown helper/],
])('checkTemplate refuses %s', (template, message) => {
  expect(checkTemplate(template, ['input', 'account'])).toMatch(message)
})
