/** Lines on a grid of 16 by 16, in the colour of the text. An icon stands beside a text and is hidden from screen readers. */
const PATHS = {
  timeline: 'M2 3.5h12M2 8h8M2 12.5h5',
  accounts: 'M8 7.5A2.75 2.75 0 1 0 8 2a2.75 2.75 0 0 0 0 5.5zM2.5 14c.6-2.6 2.8-4 5.5-4s4.9 1.4 5.5 4',
  links: 'M6.5 9.5l3-3M7 4.5l1.6-1.6a3 3 0 0 1 4.3 4.3L11.4 8.8M9 11.5l-1.6 1.6a3 3 0 0 1-4.3-4.3L4.6 7.2',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.8V8l2.2 1.6',
  scenarios: 'M9 1.5 3.5 9H8l-1 5.5L12.5 7H8z',
  contract: 'M8 1.8 13 3.6v4c0 3-2 5.4-5 6.6-3-1.2-5-3.6-5-6.6v-4zM5.8 8l1.6 1.6 2.9-3.1',
  runs: 'M4 2v12M12 2v12M1.5 5 4 2l2.5 3M9.5 11l2.5 3 2.5-3',
  webhooks: 'M8 2.5v11M3 7l5-4.5L13 7M3 13.5h10',
  connectors: 'M5.5 2v4M10.5 2v4M3.5 6h9v2a4.5 4.5 0 0 1-9 0zM8 12.5V14',
  snapshots: 'M2 5h3l1-2h4l1 2h3v8H2zM8 11a2.2 2.2 0 1 0 0-4.4A2.2 2.2 0 0 0 8 11z',
  collections:
    'M13 4c0 1.1-2.2 2-5 2S3 5.1 3 4s2.2-2 5-2 5 .9 5 2zM3 4v8c0 1.1 2.2 2 5 2s5-.9 5-2V4M3 8c0 1.1 2.2 2 5 2s5-.9 5-2',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.6 10.6 14 14',
  alert: 'M8 2 14.5 13.5h-13zM8 6.5v3M8 11.7v.1',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.4V11M8 5v.1',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.6L13 6M13 2.5V6H9.5',
  move: 'M2.5 8h10M9 4.5 12.5 8 9 11.5',
  request: 'M2.5 5h9M9 2.5 11.5 5 9 7.5M13.5 11h-9M7 8.5 4.5 11 7 13.5',
  webhook: 'M8 2.5v11M3 7l5-4.5L13 7',
  mcp: 'M3 3h4v4H3zM9 9h4v4H9zM7 5h4v4',
  grpc: 'M5 3 2 8l3 5M11 3l3 5-3 5',
  page: 'M3.5 2h6L13 5.5V14H3.5zM9 2v4h4',
  control: 'M2.5 5h11M2.5 11h11M6 3v4M10 9v4',
  unknown: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.3 6.3a1.8 1.8 0 1 1 2.5 1.7c-.6.3-.8.7-.8 1.2M8 11.2v.1',
} as const
export type IconName = keyof typeof PATHS

export function Icon({ name }: Readonly<{ name: IconName }>) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
