/** What is loaded when it is first opened. */
export { Comparison } from './compare.tsx'
export { CollectionsView, ConnectorsView, SnapshotsView } from './data.tsx'
export { ContractView } from './contract.tsx'
export { Editor } from './editor.tsx'
export { RunsView } from './runs.tsx'
export { Edit, sendAgain, snippetIn } from './send-again.tsx'
export { WebhooksView } from './webhooks.tsx'
