import supertest from 'supertest'
import type { App } from '../../src/app/app.ts'

/** Starts a scenario called `test` with these rules, which are at the service unless they say otherwise. */
export async function startScenario({ app }: { readonly app: App }, ...rules: object[]): Promise<void> {
  const document = { name: 'test', rules: rules.map((rule, at) => ({ name: `rule-${at}`, at: 'service', ...rule })) }
  const put = await supertest(app.listener).put('/_mock/scenarios/test').send(document)
  if (put.status !== 200) throw new Error(put.text)
  await supertest(app.listener).post('/_mock/scenarios/test/start')
}
