import { findingText, isViolation } from '../../model/domain/finding.ts'
import { plural } from '../../model/domain/text.ts'
import { download, type Schemas, useApi } from './api.ts'
import { Empty, Loading, RowTable, Tabs, Tag } from './content.tsx'
import { SmallButton } from './controls.tsx'
import { timeOf } from './format.ts'
import { linkTo } from './hash-route.ts'
import { environments } from './live.ts'

type Report = Schemas['ContractReport']
type Finding = Schemas['ReportFinding']
type Coverage = Schemas['CoverageReport']['total']
type Reach = Coverage['operations'][number]['reach']

const DOWNLOADS = [
  ['html', 'HTML page', 'toolmock-report.html'],
  ['junit', 'JUnit', 'toolmock-junit.xml'],
  ['sarif', 'SARIF', 'toolmock.sarif'],
  ['json', 'JSON', 'toolmock-contract.json'],
] as const

export function ContractView() {
  const { value: report, error } = useApi<Report>('/contract')
  const { value: coverage } = useApi<Schemas['CoverageReport']>('/coverage')
  if (error || !report) return <Loading error={error} />
  const { total, ok } = report
  const operations = coverage?.total.summary.operations
  const isUnused = ok && total.judged === 0
  return (
    <div class="column page">
      <div class={`row wrap card verdict ${isUnused ? 'info' : ok ? 'success' : 'error'}`} role="status">
        <strong>{isUnused ? 'No verdict yet' : ok ? 'The contract is kept' : 'The verdict fails'}</strong>
        <span>
          {plural(total.requests, 'request')}
          {total.injected > 0 && ` · ${total.injected} answered by a scenario`}
        </span>
        <span class="space" />
        <span class="buttons" role="group" aria-label="Downloads">
          <small>Download</small>
          {DOWNLOADS.map(([format, text, file]) => (
            <SmallButton key={format} label={text} act={() => download('/contract', file, { format })} />
          ))}
        </span>
      </div>
      <div class="column card parts">
        <Tabs
          label="Parts of the contract"
          tabs={[
            ['', `Findings (${total.findings.length})`, () => <AllFindings total={total} isUnused={isUnused} />],
            [
              'coverage',
              `Coverage${operations ? ` (${operations.driven} of ${plural(operations.total, 'operation')})` : ''}`,
              () => coverage && <CoverageMatrix coverage={coverage.total} />,
            ],
          ]}
        />
      </div>
    </div>
  )
}

function AllFindings({ total, isUnused }: Readonly<{ total: Report['total']; isUnused: boolean }>) {
  const { findings, left_out: leftOut } = total
  if (isUnused)
    return (
      <Empty title="The verdict begins with the first valid request." command="npx toolmock run -- npm test">
        <p>Run your tests against a mock, which then says whether they kept the contract:</p>
      </Empty>
    )
  return (
    <>
      <Findings title="Violations" tone="error" findings={findings.filter(isViolation)} />
      <Findings title="Warnings" tone="warning" findings={findings.filter((finding) => !isViolation(finding))} />
      {findings.length === 0 && <p class="quiet">No finding.</p>}
      {leftOut > 0 && <p class="quiet">Left out: {plural(leftOut, 'more finding')}.</p>}
    </>
  )
}

/** Each finding once, whatever the environments that had it, with its first requests. */
function Findings({ title, tone, findings }: Readonly<{ title: string; tone: string; findings: readonly Finding[] }>) {
  if (findings.length === 0) return null
  return (
    <section aria-label={title}>
      <h2>
        {title} <Tag tone={tone}>{findings.length}</Tag>
      </h2>
      {findings.map((finding, at) => (
        <OneFinding key={at} finding={finding} tone={tone} />
      ))}
    </section>
  )
}

const MAX_EXAMPLES = 5

function OneFinding({ finding, tone }: Readonly<{ finding: Finding; tone: string }>) {
  const { operation, code, basis, count, examples, rule, tests, test_count: testCount } = finding
  const labels = new Map(environments.value.map(({ name, label }) => [name, label]))
  return (
    <details class={`finding ${tone}`} open>
      <summary class="row">
        <span>
          <Tag tone={tone}>{code}</Tag> <strong>{operation ?? 'No operation'}</strong> {findingText(finding)}{' '}
          <small class="mono">{basis}</small>
        </span>
        <span class="space" />
        <small class="number">{count} ×</small>
      </summary>
      <div class="column finding-rows">
        {rule && (
          <a
            href={linkTo(
              'scenarios',
              rule.scenario,
              rule.environment === null ? {} : { environment: rule.environment },
            )}
          >
            {rule.scenario}: {rule.rule}
          </a>
        )}
        {examples.slice(0, MAX_EXAMPLES).map(({ id, environment: name, method, path, at, excerpt }) => {
          const label = labels.get(name) ?? null
          return (
            <a key={`${name} ${id}`} class="row finding-row" href={linkTo('timeline', id, { in: name })}>
              <span class="mono quiet">{timeOf(at).slice(0, 8)}</span>
              <span>
                {method} {path}
              </span>
              <code title={excerpt}>{excerpt}</code>
              <small>{label === null ? name : testPlace(tests.find((test) => test.name === label) ?? label)}</small>
            </a>
          )
        })}
        {count > MAX_EXAMPLES && (
          <small>
            and {plural(count - MAX_EXAMPLES, 'more request')}
            {testCount > 1 && `, of ${testCount} tests in all`}
          </small>
        )}
      </div>
    </details>
  )
}

/** A test with where it is written. */
function testPlace(test: Schemas['NamedTest'] | string): string {
  if (typeof test === 'string') return test
  const place = [test.file, test.line].filter((part) => part !== null).join(':')
  return place === '' ? test.name : `${place} · ${test.name}`
}

const REACH_TEXTS: { readonly [Name in Reach]: string } = {
  driven: 'answered by the mock itself',
  injected_only: 'only injected by scenarios',
  never: 'never answered',
}

function CoverageMatrix({ coverage }: Readonly<{ coverage: Coverage }>) {
  const statuses = [
    ...new Set(coverage.operations.flatMap(({ statuses: each }) => each.map(({ status }) => status))),
  ].sort((a, b) => a - b)
  return (
    <div class="column">
      <p class="row wrap">
        {Object.entries(REACH_TEXTS).map(([reach, text]) => (
          <small key={reach} class={`reach ${reach}`}>
            {' '}
            {text}
          </small>
        ))}
      </p>
      <RowTable
        label="Coverage"
        class="matrix"
        heads={['Operation', ...statuses.map(String)]}
        rows={coverage.operations.map((operation) => [
          operation.operation,
          ...statuses.map((status) => {
            const cell = operation.statuses.find((each) => each.status === status)
            if (!cell) return null
            const text = REACH_TEXTS[cell.reach]
            const title = `${plural(cell.answers, 'answer')}, ${cell.injected} injected: ${text}`
            return (
              <span class={`reach ${cell.reach}`} title={title}>
                <span class="visually-hidden">{text}</span>
              </span>
            )
          }),
        ])}
      />
    </div>
  )
}
