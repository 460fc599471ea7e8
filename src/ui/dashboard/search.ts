import { useEffect, useMemo, useState } from 'preact/hooks'
import { type TimelineEntry, useDelayed, useReading } from './api.ts'
import { ALL, environment } from './hash-route.ts'
import { sortedBy } from './list-view.tsx'
import { environments, requestsIn } from './live.ts'
import { keyOf } from './timeline-entries.ts'

/** The server searches when the user has not typed for this long. */
const DELAY_MS = 200
const MAX_FOUND = 1000

/** What the server finds: it has the headers and bodies, and entries that the page has not. */
export function useFound(text: string): ReadonlyMap<string, TimelineEntry> {
  const [searched, setSearched] = useState('')
  const wanted = text.trim()
  useDelayed(() => setSearched(wanted), DELAY_MS, [wanted])
  const names = environment.value === ALL ? environments.value.map(({ name }) => name) : [environment.value]
  const key = searched === '' || searched !== wanted ? '' : [searched, ...names].join('\n')
  const { value: answers } = useReading(key, (signal) =>
    requestsIn(environment.value, { text: searched, short: 'true', limit: MAX_FOUND }, signal),
  )
  return useMemo(() => {
    const entries = answers?.flatMap(({ entries: list = [] }) => list) ?? []
    const newestFirst = sortedBy(entries, ({ real_at }) => real_at, '-')
    return new Map(newestFirst.map((entry) => [keyOf(entry), entry]))
  }, [answers])
}

const MAX_HITS = 2000

/** Marks the words of the search wherever the list and the open request show them, where the browser can mark without markup. */
export function useHits(text: string): void {
  useEffect(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean)
    const main = document.querySelector('main')
    if (words.length === 0 || !main || !('highlights' in CSS)) return undefined
    let frame = 0
    const mark = (): void => {
      frame = 0
      CSS.highlights.set('hits', new Highlight(...hitsIn(main, words)))
    }
    const observer = new MutationObserver(() => (frame ||= requestAnimationFrame(mark)))
    observer.observe(main, { childList: true, characterData: true, subtree: true })
    mark()
    return () => {
      observer.disconnect()
      cancelAnimationFrame(frame)
      CSS.highlights.delete('hits')
    }
  }, [text])
}

function hitsIn(main: Element, words: readonly string[]): Range[] {
  const ranges: Range[] = []
  for (const part of main.querySelectorAll('.list-inner, .detail')) {
    const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT)
    for (let node = texts.nextNode(); node; node = texts.nextNode())
      for (const word of words) addRanges(ranges, node, word)
  }
  return ranges
}

function addRanges(ranges: Range[], node: Node, word: string): void {
  const { nodeValue: nodeText } = node
  if (nodeText === null) return
  const text = nodeText.toLowerCase()
  for (let at = text.indexOf(word); at >= 0 && ranges.length < MAX_HITS; at = text.indexOf(word, at + word.length)) {
    const range = new Range()
    range.setStart(node, Math.min(at, nodeText.length))
    range.setEnd(node, Math.min(at + word.length, nodeText.length))
    ranges.push(range)
  }
}
