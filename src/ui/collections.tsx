import { plural, shorten } from '../domain/text.ts'
import type { Schemas } from './api.ts'
import { Choice, Problem, Section, Table } from './parts.tsx'
import { setParameters, route } from './hash-route.ts'
import { pathOf, useApi } from './use-api.ts'

export function Collections() {
  const { value, error } = useApi<{ collections: readonly Schemas['Collection'][] }>('/collections')
  const { collection: chosen = '', account = '' } = route.value.parameters
  const collections = value?.collections ?? []
  const current = collections.find((each) => nameOf(each) === chosen) ?? collections[0]
  const isPerAccount = current?.per === 'account'
  const accounts = useApi<Schemas['Accounts']>(isPerAccount ? '/accounts' : null, { query: current?.connector })
  const owners = (accounts.value?.accounts ?? []).filter(({ connector }) => connector === current?.connector)
  const owner = owners.find((each) => each.id === account) ?? owners[0]
  if (value && collections.length === 0) return null
  return (
    <Section level={2} title="Collections" note={value ? plural(collections.length, 'collection') : undefined}>
      <Problem error={error} />
      {current && (
        <div class="buttons">
          <Choice
            label="Collection"
            value={nameOf(current)}
            options={collections.map((each) => [nameOf(each), nameOf(each)])}
            onChange={(collection) => setParameters({ collection, account: '' })}
          />
          {owner && (
            <Choice
              label="Account"
              value={owner.id}
              options={owners.map((each) => [each.id, each.identifier])}
              onChange={(next) => setParameters({ account: next })}
            />
          )}
        </div>
      )}
      {isPerAccount && accounts.value && !owner && (
        <p class="quiet">Each account has its own items, and this connector has no account yet.</p>
      )}
      {current && (owner || !isPerAccount) && (
        <Items key={`${nameOf(current)} ${owner?.id ?? ''}`} collection={current} account={owner?.id} />
      )}
    </Section>
  )
}

function nameOf({ connector, collection }: Schemas['Collection']): string {
  return `${connector}/${collection}`
}

/** The most fields of the items that fit as columns; the others are not shown. */
const MAX_COLUMNS = 6
const MAX_ITEMS = 200

function Items({ collection, account }: Readonly<{ collection: Schemas['Collection']; account: string | undefined }>) {
  const path = pathOf('collections', collection.connector, collection.collection)
  const { value, error } = useApi<Schemas['CollectionItems']>(path, { account })
  if (error) return <Problem error={error} />
  if (!value) return null
  if (value.items.length === 0) return <p class="quiet">No items yet. Calls create them.</p>
  const keys = [...new Set([collection.key, ...value.items.flatMap((item) => Object.keys(item))])].slice(0, MAX_COLUMNS)
  return (
    <Table
      label={nameOf(collection)}
      caption={`${plural(value.items.length, 'item')}${value.items.length > MAX_ITEMS ? `, the newest ${MAX_ITEMS} of them` : ''}`}
      heads={keys.map((key) => [key, key === collection.key ? 'mono' : ''])}
      by={-1}
      rows={value.items
        .slice(-MAX_ITEMS)
        .reverse()
        .map((item) => keys.map((key) => cellOf(item[key])))}
    />
  )
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return shorten(typeof value === 'string' ? value : JSON.stringify(value), 160)
}
