/** What the command line does with state files without serving. */
export { checkState } from './store/state-report.ts'
export { repairState } from './store/state-repair.ts'
