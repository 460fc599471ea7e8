import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { type Action, allActions, dialog, perform } from './actions.ts'
import { call, pathOf, type Schemas, type TimelineEntry, useApi } from './api.ts'
import { Dialog } from './controls.tsx'
import { show, titleOf } from './entry.ts'
import { ALL, enter, environment, go } from './hash-route.ts'
import { Icon } from './icons.tsx'
import { environmentOptions, timeline } from './live.ts'

/** An action of the list. `about` is said in quiet letters, and searched. */
type Command = Required<Omit<Action, 'keys'>> & { readonly about: string }

/** The most accounts and requests in the list. */
const MAX_SHOWN = 6

/** A dialog that finds views, actions, scenarios, accounts and requests by their words, and goes there or does them. */
export function Palette() {
  const id = useId()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const isOne = environment.value !== ALL
  const wanted = text.trim().toLowerCase()
  const query = { query: wanted, limit: MAX_SHOWN, order: 'newest' }
  const accounts = useApi<Schemas['Accounts']>(isOne && wanted !== '' ? '/accounts' : null, query).value?.accounts ?? []
  const scenarios = useApi<Schemas['Scenarios']>(isOne ? '/scenarios' : null).value?.scenarios ?? []
  const requests = wanted === '' ? [] : timeline.matching({ q: wanted }).slice(0, MAX_SHOWN)
  const words = wanted.split(/\s+/)
  const commands = [
    ...[...actions(), ...scenarios.map(scenarioCommand), ...environmentOptions().map(environmentCommand)].filter(
      (command) => {
        const searched = `${command.text} ${command.about}`.toLowerCase()
        return words.every((word) => searched.includes(word))
      },
    ),
    ...accounts.map(accountCommand),
    ...requests.map(requestCommand),
  ]
  const at = Math.min(chosen, commands.length - 1)
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => list.current?.children[at]?.scrollIntoView({ block: 'nearest' }), [at, text])
  const close = (): void => {
    dialog.value = ''
  }
  const press = (command = commands[at]): void => {
    if (!command) return
    close()
    void perform(command.act)
  }
  const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }
  return (
    <Dialog title="Go to, or do" onClose={close}>
      <input
        type="text"
        {...({ role: 'combobox' } as object)}
        autofocus
        autocomplete="off"
        aria-label="Command"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={at < 0 ? undefined : `${id}-${at}`}
        placeholder="A view, account, request, scenario or action"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={(event) => {
          const step = steps[event.key]
          if (step !== undefined) setChosen(Math.max(0, Math.min(commands.length - 1, at + step)))
          else if (event.key === 'Enter') press()
          else return
          event.preventDefault()
        }}
      />
      <ul ref={list} id={id} class="palette" role="listbox" aria-label="Commands">
        {commands.map((command, index) => (
          <li
            key={`${command.icon} ${command.text} ${command.about}`}
            id={`${id}-${index}`}
            role="option"
            class={`row ${index === at ? 'current' : ''}`}
            aria-selected={index === at}
            onClick={() => press(command)}
          >
            <Icon name={command.icon} />
            <span>{command.text}</span>
            <small>{command.about}</small>
          </li>
        ))}
      </ul>
      {commands.length === 0 && <p class="quiet">Nothing has these words.</p>}
    </Dialog>
  )
}

function actions(): Command[] {
  return allActions().flatMap(({ keys = '', text, icon, act }) =>
    icon && act ? [{ icon, text, about: keys, act }] : [],
  )
}

function scenarioCommand({ name, running, description }: Schemas['Scenario']): Command {
  const verb = running ? 'stop' : 'start'
  return {
    icon: 'scenarios',
    text: `${running ? 'Stop' : 'Start'} ${name}`,
    about: description,
    act: () => call('POST', pathOf('scenarios', name, verb)),
  }
}

function environmentCommand([name, text]: readonly [name: string, text: string]): Command {
  return { icon: 'collections', text, about: 'environment', act: () => enter(name) }
}

function accountCommand({ id, identifier, connector, status }: Schemas['Accounts']['accounts'][number]): Command {
  return { icon: 'accounts', text: identifier, about: `at ${connector}, ${status}`, act: () => go('accounts', id) }
}

function requestCommand(entry: TimelineEntry): Command {
  const about = `${entry.status} ${entry.error_code ?? ''} ${entry.identifier ?? ''} ${entry.id}`
  return { icon: 'timeline', text: titleOf(entry), about, act: () => show(entry) }
}
