import { setTimeout as pause } from 'node:timers/promises'
import { createApp } from '../../../src/app/app.ts'
import { Database } from '../../../src/servers/replicas/database.ts'
import { Lease } from '../../../src/servers/replicas/lease.ts'

// A replica without one of its protections, as a process of its own. The checker of the other tests has to find what it does.

const [state, stateSchema, without = ''] = process.argv.slice(2)

if (without.includes('deadline')) {
  Object.defineProperty(Lease.prototype, 'isHeld', { get: () => true })
  // The database says late that the lease is over, so that the deadline alone protects the answers until then.
  const renew = Reflect.get(Database.prototype, 'renew')
  Database.prototype.renew = async function (this: Database, ...given) {
    const isRenewed = await renew.apply(this, given)
    await pause(1500)
    return isRenewed
  }
}
if (without.includes('guard')) {
  Object.assign(Database.prototype, {
    async append(this: Database, { epoch }: { epoch: number }, file: string, position: number, bytes: Buffer) {
      const values = [file, position, epoch, bytes]
      await this.rows('insert into $s.chunks values ($1, $2, $3, $4) on conflict do nothing', values)
      return true
    },
    async renew(this: Database, epoch: number, leaseMs: number) {
      const end = 'clock_timestamp() + make_interval(secs => $2)'
      await this.rows(`update $s.leader set expires_at = ${end} where epoch = $1`, [epoch, leaseMs / 1000])
      return true
    },
  })
}
const app = await createApp({ state: state ?? null, stateSchema, lease: 6000 })
const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${url}\n`)
