/** What the command line does with state files without serving. */
export { checkState } from '../state/state-report.ts'
export { repairState } from '../state/state-repair.ts'
