import { type ComponentChildren } from 'preact'
import { plural, shorten } from '../domain/text.ts'
import type { Request } from './api.ts'
import { compared, type Difference } from './differences.ts'
import { momentOf } from './format.ts'
import { linkTo, route } from './hash-route.ts'
import { Detail, Loading, Path, Section, Status, Table } from './parts.tsx'
import { close, titleOf } from './entry.ts'
import { inEnvironment, pathOf, useApi } from './use-api.ts'

/** Two requests side by side: only what differs, and what always does (ids and times) apart. */
export function Comparison({ id, other }: Readonly<{ id: string; other: string }>) {
  const { within = inEnvironment().environment } = route.value.parameters
  const one = useApi<{ request: Request }>(pathOf('requests', id))
  const two = useApi<{ request: Request }>(pathOf('requests', other), { environment: within })
  const [first, second] = [one.value?.request, two.value?.request]
  return (
    <Detail label="Comparison" close={close} title={<h2>Compare two requests</h2>}>
      {first && second ? (
        <div class="detail-body">
          <Sides sides={[first, second]} />
        </div>
      ) : (
        <Loading error={one.error ?? two.error} />
      )}
    </Detail>
  )
}

function Sides({ sides: [one, other] }: Readonly<{ sides: readonly [Request, Request] }>) {
  const { request, answer, happened } = compared(one, other)
  const apart = [...request, ...answer].filter(({ isIdentity }) => isIdentity)
  const parts = [
    ['Request', request],
    ['Answer', answer],
    ['What happened', happened],
  ] as const
  return (
    <>
      <div class="row sides">
        <Side title="This one" request={one} />
        <Side title="The other" request={other} />
      </div>
      {parts.map(([title, all]) => (
        <Differences key={title} title={title} differences={all.filter(({ isIdentity }) => !isIdentity)} />
      ))}
      {apart.length > 0 && <Differences title="Ids and times" differences={apart} open={false} />}
    </>
  )
}

function Side({ title, request }: Readonly<{ title: string; request: Request }>) {
  return (
    <p>
      <span class="quiet">{title}</span>
      <br />
      <Status status={request.status} />{' '}
      <a href={linkTo('timeline', request.id, { in: request.environment })}>{titleOf(request)}</a>
      <br />
      <span class="mono quiet">{momentOf(request.at)}</span>
    </p>
  )
}

function Differences({
  title,
  differences,
  open = true,
}: Readonly<{ title: string; differences: readonly Difference[]; open?: boolean }>) {
  const note = differences.length === 0 ? 'the same' : plural(differences.length, 'difference')
  return (
    <Section title={title} note={note} open={open}>
      {differences.length > 0 && (
        <Table
          label={title}
          class="compared"
          heads={['Where', ['This one', 'mono'], ['The other', 'mono']]}
          rows={differences.map(({ where, one, other }) => [<Path path={where} />, shown(one), shown(other)])}
        />
      )}
    </Section>
  )
}

function shown(value: Difference['one']): ComponentChildren {
  if (value === undefined || value === null) return <span class="quiet">nothing</span>
  return shorten(typeof value === 'string' ? value : JSON.stringify(value), 2000)
}
