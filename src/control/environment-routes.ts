import { removeEnvironment } from './actions.ts'
import { valueOf } from './body.ts'
import type { ControlReply, ControlRoute, ServerCall } from './context.ts'
import { ControlError } from './control-error.ts'
import { checkedName, inlineSeed } from './documents.ts'
import { aBoolean, aText, anInstant, anInteger, anObject, form, readFields } from './fields.ts'

/** Worlds of their own (1.2). */
export const ENVIRONMENT_ROUTES: readonly ControlRoute[] = [
  {
    about: 'server',
    operation: 'create_environment',
    method: 'POST',
    path: '/environments',
    body: 'optional',
    handle: create,
  },
  { about: 'server', operation: 'delete_environment', method: 'DELETE', path: '/environments/{name}', handle: remove },
]

const CLOCK_FORMS = { now: anInstant, frozen: aBoolean }

const ENVIRONMENT_FORMS = {
  name: aText,
  seed: anObject,
  clock: form(`${anInstant.allowed}, or an object with now and frozen`, (value) =>
    typeof value === 'string' ? anInstant.read(value) : anObject.read(value),
  ),
  id_seed: anInteger(0, Number.MAX_SAFE_INTEGER),
}

async function create({ context, request, body }: ServerCall): Promise<ControlReply> {
  const given = readFields(body === undefined ? {} : await valueOf(body), ENVIRONMENT_FORMS)
  const { environment, client } = await context.environments.create({
    name: given.name === undefined ? undefined : checkedName('an environment', given.name),
    seed: given.seed && (await inlineSeed(given.seed, context)),
    clock: typeof given.clock === 'string' ? { now: given.clock } : given.clock && readFields(given.clock, CLOCK_FORMS),
    idSeed: given.id_seed,
  })
  const answer = {
    name: environment.name,
    client_id: client.id,
    client_secret: client.client_secret,
    base_url: context.address(request),
  }
  return { status: 201, body: answer }
}

function remove({ context, path: { name = '' } }: ServerCall): ControlReply {
  if (name === 'default') {
    const message = 'the environment default is the one that calls without ?environment= are about; reset it instead'
    throw new ControlError('ENVIRONMENT_REQUIRED', message)
  }
  removeEnvironment(context, name)
  return { status: 200, body: {} }
}
