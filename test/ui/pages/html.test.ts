import { expect, it } from 'vitest'
import { css, html } from '../../../src/ui/pages/html.ts'

it('escapes an interpolation for text and for quoted attributes', () => {
  const hostile = `</p><script>alert("1" + '2')</script>&amp;`
  expect(html`<p title="${hostile}">${hostile}</p>`.toString()).toBe(
    '<p title="&lt;/p&gt;&lt;script&gt;alert(&quot;1&quot; + &#39;2&#39;)&lt;/script&gt;&amp;amp;">' +
      '&lt;/p&gt;&lt;script&gt;alert(&quot;1&quot; + &#39;2&#39;)&lt;/script&gt;&amp;amp;</p>',
  )
})

it('keeps markup and lists of markup', () => {
  const items = ['a', '<b>'].map((item) => html`<b>${item}</b>`)
  expect(html`<i>${items}</i>`.toString()).toBe('<i><b>a</b><b>&lt;b&gt;</b></i>')
})

it('renders an absent value as empty', () => {
  expect(html`[${null}${undefined}${false}${''}]`.toString()).toBe('[]')
  expect(html`[${0}]`.toString()).toBe('[0]')
})

it('replaces control characters, which no page may contain, and keeps line breaks and tabs', () => {
  expect(html`<p>${'a\u0000b\u001b[31m\u0085\n\tc'}</p>`.toString()).toBe('<p>a\ufffdb\ufffd[31m\ufffd\n\tc</p>')
})

it('shows what turns the direction of text, and sends the value of a field as it is', () => {
  const name = 'ada\u202emoc.live\u2066\u200f'
  expect(html`<input value="${name}" />${name}`.toString()).toBe(
    `<input value="${name}" />ada\\u{202e}moc.live\\u{2066}\\u{200f}`,
  )
  expect(html`<p title="${name}" aria-label="${name}"></p>`.toString()).not.toMatch(/\p{Bidi_Control}/u)
})

it('replaces lone surrogates, which UTF-8 cannot carry', () => {
  expect(html`${'a\ud800b'}`.toString()).toBe('a\ufffdb')
})

it('renders template and replacement characters literally', () => {
  expect(html`${'{{x}} ${y} $& $1'}`.toString()).toBe('{{x}} ${y} $&amp; $1')
})

it('does not change a style sheet', () => {
  const sheet = css`
    a > b {
      content: "'";
    }
  `
  expect(sheet.toString()).toContain(`a > b {`)
  expect(sheet.toString()).toContain(`content: "'";`)
})
