/** What a figure has to reach (`bar`) and the more ambitious goal (`moonshot`), in the unit of the row. */
export interface Bar {
  title: string
  unit: '× bare' | '× quiet' | '× REST' | '× of 100' | 'MB' | 'ms' | 'packages'
  better: 'lower' | 'higher'
  bar: number
  moonshot: number
}

/** One entry for each figure with a bar. The hand-written reasons in `docs/benchmarks.md` use the same names. */
export const BARS = {
  start: {
    title: 'process start to the first 200 of `/_mock/ready`',
    unit: '× bare',
    better: 'lower',
    bar: 2.2,
    moonshot: 1.5,
  },
  'start-10000': {
    title: 'process start, 10,000 accounts in the file',
    unit: '× bare',
    better: 'lower',
    bar: 8,
    moonshot: 4,
  },
  'library-first': {
    title: 'loading the library and the first `createToolmock()`',
    unit: '× bare',
    better: 'lower',
    bar: 1.3,
    moonshot: 0.6,
  },
  'library-further': {
    title: 'each further `createToolmock()`',
    unit: '× bare',
    better: 'lower',
    bar: 0.15,
    moonshot: 0.05,
  },
  'library-reset': { title: '`reset()` by the library', unit: '× bare', better: 'lower', bar: 0.03, moonshot: 0.01 },
  'library-environment': {
    title: 'a new environment by the library',
    unit: '× bare',
    better: 'lower',
    bar: 0.03,
    moonshot: 0.01,
  },
  memory: { title: 'resident memory, idle', unit: 'MB', better: 'lower', bar: 75, moonshot: 55 },
  'memory-10000': { title: 'resident memory, 10,000 accounts', unit: 'MB', better: 'lower', bar: 120, moonshot: 90 },
  'get-details': { title: 'GET get-details', unit: '× bare', better: 'higher', bar: 0.5, moonshot: 0.85 },
  token: { title: 'POST token', unit: '× bare', better: 'higher', bar: 0.15, moonshot: 0.3 },
  'request-lines': {
    title: 'GET get-details with a line for each request in a file, against `--quiet`',
    unit: '× quiet',
    better: 'higher',
    bar: 0.95,
    moonshot: 0.98,
  },
  dashboard: {
    title: 'GET get-details at 500 requests a second with a dashboard open, against none',
    unit: '× quiet',
    better: 'higher',
    bar: 0.9,
    moonshot: 0.97,
  },
  create: { title: 'durable create, 32 connections', unit: '× bare', better: 'higher', bar: 0.16, moonshot: 0.4 },
  'create-flat': {
    title: 'durable create, at 10,000 accounts against at 100',
    unit: '× of 100',
    better: 'higher',
    bar: 0.7,
    moonshot: 0.95,
  },
  'pages-10000': {
    title: 'the most expensive page of list and search, 10,000 accounts',
    unit: 'ms',
    better: 'lower',
    bar: 1,
    moonshot: 0.2,
  },
  'items-10000': {
    title: 'the most expensive list of 20 out of 10,000 items of a connector',
    unit: 'ms',
    better: 'lower',
    bar: 1,
    moonshot: 0.2,
  },
  'execute-tool': {
    title: 'execute_tool with its third-party hop',
    unit: '× bare',
    better: 'higher',
    bar: 0.33,
    moonshot: 0.7,
  },
  'mcp-2026': {
    title: 'CPU of tools/call of 2026-07-28, against execute_tool by REST',
    unit: '× REST',
    better: 'lower',
    bar: 1.5,
    moonshot: 1.2,
  },
  'mcp-2025': {
    title: 'CPU of tools/call of 2025-11-25, against execute_tool by REST',
    unit: '× REST',
    better: 'lower',
    bar: 2.2,
    moonshot: 1.5,
  },
  'mcp-first-call': {
    title: 'the first tools/call of a server, beyond a warm execute_tool',
    unit: 'ms',
    better: 'lower',
    bar: 250,
    moonshot: 100,
  },
  'reset-500': {
    title: 'longest wait of another request while 500 accounts are reset',
    unit: 'ms',
    better: 'lower',
    bar: 50,
    moonshot: 20,
  },
  'reset-10000': {
    title: 'longest wait of another request while 10,000 accounts are reset',
    unit: 'ms',
    better: 'lower',
    bar: 400,
    moonshot: 150,
  },
  packages: { title: 'packages that are installed', unit: 'packages', better: 'lower', bar: 10, moonshot: 5 },
  size: { title: 'size of what is installed', unit: 'MB', better: 'lower', bar: 15, moonshot: 5 },
} as const satisfies Record<string, Bar>

export type BarName = keyof typeof BARS
export type Verdict = 'moonshot' | 'bar' | 'missed'

export function judge(name: BarName, value: number): Verdict {
  const { better, bar, moonshot }: Bar = BARS[name]
  const reaches = (bound: number): boolean => (better === 'lower' ? value <= bound : value >= bound)
  if (reaches(moonshot)) return 'moonshot'
  return reaches(bar) ? 'bar' : 'missed'
}
