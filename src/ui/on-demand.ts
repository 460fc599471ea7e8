/** What is not shown at first: one script, which is loaded when a part of it is first shown. */
export { AccountsView } from './accounts.tsx'
export { ClockView } from './clock.tsx'
export { Comparison } from './compare.tsx'
export { ContractView } from './contract.tsx'
export { DataView } from './data.tsx'
export { LinksView } from './links.tsx'
export { ScenariosView } from './scenarios.tsx'
export { SendAndCopy } from './send-again.tsx'
