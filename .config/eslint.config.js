import { fileURLToPath } from 'node:url'
import tseslint from 'typescript-eslint'

const root = fileURLToPath(new URL('..', import.meta.url))
const typescript = ['src/**/*.{ts,tsx}', 'test/**/*.ts', 'bench/**/*.ts', '.build/**/*.ts', '.config/**/*.ts']

/** The rules of ESLint's own recommendation that TypeScript does not already cover. */
const correctness = {
  'no-async-promise-executor': 'error',
  'no-case-declarations': 'error',
  'no-cond-assign': 'error',
  'no-constant-binary-expression': 'error',
  'no-constant-condition': ['error', { checkLoops: 'allExceptWhileTrue' }],
  'no-control-regex': 'error',
  'no-debugger': 'error',
  'no-empty': 'error',
  'no-empty-character-class': 'error',
  'no-empty-pattern': 'error',
  'no-empty-static-block': 'error',
  'no-fallthrough': 'error',
  'no-irregular-whitespace': 'error',
  'no-loss-of-precision': 'error',
  'no-misleading-character-class': 'error',
  'no-prototype-builtins': 'error',
  'no-regex-spaces': 'error',
  'no-self-assign': 'error',
  'no-shadow-restricted-names': 'error',
  'no-sparse-arrays': 'error',
  'no-unexpected-multiline': 'error',
  'no-unsafe-finally': 'error',
  'no-unsafe-optional-chaining': 'error',
  'no-unused-labels': 'error',
  'no-unused-private-class-members': 'error',
  'no-useless-backreference': 'error',
  'no-useless-catch': 'error',
  'no-useless-escape': 'error',
  'require-yield': 'error',
}

/** The style of this project. */
const style = {
  eqeqeq: 'error',
  'max-depth': ['error', 3],
  'no-else-return': ['error', { allowElseIf: false }],
  'no-implicit-coercion': 'error',
  'no-lonely-if': 'error',
  'no-unneeded-ternary': 'error',
  'no-useless-rename': 'error',
  'no-useless-return': 'error',
  'no-var': 'error',
  'object-shorthand': 'error',
  'prefer-const': 'error',
  'prefer-object-has-own': 'error',
  '@typescript-eslint/consistent-type-exports': 'error',
  '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
  '@typescript-eslint/method-signature-style': 'off',
  '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
  '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
  '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
}

const ports = 'Time and randomness come in as ports: read them from Clock and Ids (src/model/domain/ports.ts).'
const randomness = [
  'randomUUID',
  'randomBytes',
  'randomInt',
  'randomFillSync',
  'randomFill',
  'getRandomValues',
  'webcrypto',
]

const parsers = ['json', 'raw', 'static', 'text', 'urlencoded']
const bundled = 'The bundle leaves out what Express does this with (.build/bundle.ts), so it would fail in the package.'

/**
 * For the product: only `src/state/model/time-and-ids.ts`, which implements the ports, reads the clock and the randomness of
 * the machine, and nothing calls what the bundle leaves out.
 */
const product = {
  'no-restricted-properties': [
    'error',
    { object: 'Date', property: 'now', message: ports },
    { object: 'Math', property: 'random', message: ports },
    { object: 'crypto', property: 'randomUUID', message: ports },
    { object: 'crypto', property: 'getRandomValues', message: ports },
    { property: 'canParse', message: 'Call parseUrl (src/model/domain/parse-url.ts), which says why.' },
  ],
  'no-restricted-syntax': [
    'error',
    { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: ports },
    { selector: 'CallExpression[callee.name="Date"]', message: ports },
    { selector: 'CallExpression[callee.property.name=/^(sendFile|download)$/]', message: bundled },
    { selector: `MemberExpression[object.name="express"][property.name=/^(${parsers.join('|')})$/]`, message: bundled },
    { selector: 'CallExpression[arguments.0.value="query parser"][arguments.1.value!=false]', message: bundled },
  ],
  '@typescript-eslint/no-restricted-imports': [
    'error',
    {
      paths: [
        ...['node:crypto', 'crypto'].map((name) => ({ name, importNames: randomness, message: ports })),
        { name: 'express', importNames: parsers, message: bundled },
      ],
    },
  ],
}

export default tseslint.config(
  {
    ignores: [
      '**/dist/',
      'coverage/',
      '.toolmock/',
      '**/generated/',
      'test/fixtures/generated-clients/',
      '.build/site/.vitepress/',
    ],
  },
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: root } },
  },
  { files: typescript, extends: [tseslint.configs.strictTypeChecked], rules: { ...correctness, ...style } },
  { files: ['**/*.js', '**/*.cjs'], rules: correctness },
  {
    files: ['src/**/*.{ts,tsx}'],
    ignores: ['src/state/model/time-and-ids.ts'],
    rules: { ...product, 'no-console': 'error' },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      // supertest and JSON.parse return `any`, and tests assert on its members.
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      // A missing value fails the test where it is used, with a stack trace.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      // A fixture of vitest that needs no other one.
      'no-empty-pattern': ['error', { allowObjectPatternsAsParameters: true }],
    },
  },
)
