/** Raised with each change of the tables. A toolmock that knows a lower version does not become active. */
export const SCHEMA_VERSION = 2

/** Under an advisory lock: several may start at once. A schema that is there needs no right to make schemas. */
export function schemaText(schema: string, secret: string): string {
  return `
select pg_advisory_xact_lock(hashtext('toolmock ${schema}'));
do $$ begin if to_regnamespace('"${schema}"') is null then create schema "${schema}"; end if; end $$;
create table if not exists $s.meta(one bool primary key default true check(one), version int not null, secret text not null);
create table if not exists $s.leader(one bool primary key default true check(one),
  epoch bigint not null default 0, fence int not null default 0, id text, url text, expires_at timestamptz);
create table if not exists $s.files(id bigint generated always as identity primary key, name text not null unique);
create table if not exists $s.chunks(file bigint not null references $s.files on delete cascade,
  position bigint not null, epoch bigint not null, bytes bytea not null, primary key(file, position));
create table if not exists $s.replicas(id text primary key, url text not null, version text not null,
  settings jsonb not null, seen_at timestamptz not null);
alter table $s.leader add column if not exists clock_offset float8;
insert into $s.leader default values on conflict do nothing;
insert into $s.meta(version, secret) values (${SCHEMA_VERSION}, '${secret}') on conflict (one)
  do update set version = greatest(meta.version, excluded.version)`
}

/** A statement that writes changes nothing once one of the two is another in the row of the active replica. */
export interface Guard {
  /** Raised by each takeover. */
  readonly epoch: number
  /** Raised after a statement whose answer did not come: it may still be on its way. */
  readonly fence: number
}

/** Locks the row of the active replica, so that a takeover waits. A division by zero ends the transaction when the guard is over. */
export function guardText({ epoch, fence }: Guard): string {
  return `select 1 / count(*) from (select 1 from $s.leader where epoch = ${epoch} and fence = ${fence} for share) as held`
}
