export type { Connection } from './generated/tables.ts'

export const CONNECTION_STATUSES = ['DRAFT', 'IN_PROGRESS', 'COMPLETED'] as const
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number]
