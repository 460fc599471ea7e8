import { Fragment } from 'preact'
import { isViolation } from '../../model/domain/finding.ts'
import { plural } from '../../model/domain/text.ts'
import { download, type Schemas } from './api.ts'
import { environments } from './live.ts'
import { Name, Path, Table, Tag } from './content.tsx'
import { SmallButton } from './controls.tsx'
import { Empty, Loading, Problem, Section } from './layout.tsx'
import { ALL, environment, linkTo } from './hash-route.ts'
import { useAction, useApi } from './use-api.ts'

type Report = Schemas['ContractReport']
type EnvironmentRecord = Report['environments'][number]
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
  const { busy, error: failed, run } = useAction()
  if (error || !report)
    return (
      <div class="column page">
        <Loading error={error} />
      </div>
    )
  const { total, ok } = report
  const isUnused = ok && total.judged === 0
  return (
    <div class="column page">
      <div class={`row wrap card verdict ${isUnused ? 'info' : ok ? 'success' : 'error'}`} role="status">
        <strong>{isUnused ? 'No verdict yet' : ok ? 'The contract is kept' : 'The verdict fails'}</strong>
        <span>{countsOf(total)}</span>
        <span class="space" />
        <span class="buttons" role="group" aria-label="Downloads">
          {DOWNLOADS.map(([format, text, file]) => (
            <SmallButton
              key={format}
              label={text}
              disabled={busy}
              onClick={() => run(() => download('/contract', file, { format }))}
            />
          ))}
        </span>
      </div>
      <Problem error={failed} />
      {isUnused ? (
        <Empty title="The verdict begins with the first valid request." command="npx toolmock run -- npm test">
          <p>Run your tests against a mock, which then says whether they kept the contract:</p>
        </Empty>
      ) : (
        report.environments.map((record) => <EnvironmentFindings key={record.name} record={record} />)
      )}
      {coverage && <CoverageMatrix coverage={coverage.total} />}
    </div>
  )
}

function countsOf({ requests, injected, findings }: Report['total']): string {
  const violations = findings.filter(isViolation).length
  const counts: readonly (readonly [count: number, text: string])[] = [
    [violations, plural(violations, 'violation')],
    [findings.length - violations, plural(findings.length - violations, 'warning')],
    [injected, `${injected} answered by a scenario`],
  ]
  const shown = counts.filter(([count]) => count > 0).map(([, text]) => text)
  return [plural(requests, 'request'), ...shown].join(' · ')
}

/** The findings of one environment. With the fixture for vitest, each test has its own environment. */
function EnvironmentFindings({ record }: Readonly<{ record: EnvironmentRecord }>) {
  const { name, findings, left_out } = record
  const label = environments.value.find((each) => each.name === name)?.label ?? null
  const violations = findings.filter(isViolation)
  const warnings = findings.filter((finding) => !isViolation(finding))
  if (findings.length === 0 && environment.value === ALL) return null
  return (
    <Section
      level={2}
      title={label ?? name}
      note={
        violations.length === 0 ? (
          <Tag tone="success">kept</Tag>
        ) : (
          <Tag tone="error">{plural(violations.length, 'violation')}</Tag>
        )
      }
    >
      <FindingTable title="Violations" tone="error" findings={violations} in={name} />
      <FindingTable title="Warnings" tone="warning" findings={warnings} in={name} />
      {findings.length === 0 && <p class="quiet">No finding.</p>}
      {left_out > 0 && <p class="quiet">Left out: {plural(left_out, 'more finding')}.</p>}
    </Section>
  )
}

function FindingTable({
  title,
  tone,
  findings,
  in: name,
}: Readonly<{ title: string; tone: string; findings: readonly Finding[]; in: string }>) {
  if (findings.length === 0) return null
  return (
    <Table
      class="findings"
      caption={title}
      heads={[
        'Operation',
        ['Where', 'mono'],
        'Found',
        ['Rule', 'wide'],
        'Basis',
        ['Times', 'number'],
        ['Requests', 'number'],
      ]}
      rows={findings.map((finding) => {
        const { operation, field, found, allowed, did_you_mean: meant, code, basis, count, requests, rule } = finding
        return [
          <Name name={operation ?? 'No operation'} />,
          rule ? (
            <a href={linkTo('scenarios', rule.scenario, { environment: name })}>{field}</a>
          ) : (
            <Path path={field} />
          ),
          found,
          meant === null ? allowed : `${allowed}: did you mean ${meant}?`,
          <>
            <Tag tone={tone}>{code}</Tag>
            <br />
            <small class="mono">{basis}</small>
          </>,
          count,
          <RequestLinks ids={requests} in={name} />,
        ]
      })}
    />
  )
}

function RequestLinks({ ids, in: name }: Readonly<{ ids: readonly string[]; in: string }>) {
  return (
    <>
      {ids.slice(0, 3).map((id, index) => (
        <Fragment key={id}>
          {' '}
          <a href={linkTo('timeline', id, { in: name })} aria-label={`${index + 1}: request ${id}`}>
            {index + 1}
          </a>
        </Fragment>
      ))}
    </>
  )
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
  const { operations, statuses: counts } = coverage.summary
  return (
    <Section
      level={2}
      title="Coverage"
      note={`${operations.driven} of ${operations.total} operations, ${counts.driven} of ${counts.total} answers`}
    >
      <p class="row wrap">
        {Object.entries(REACH_TEXTS).map(([reach, text]) => (
          <small key={reach} class={`reach ${reach}`}>
            {' '}
            {text}
          </small>
        ))}
      </p>
      <Table
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
    </Section>
  )
}
