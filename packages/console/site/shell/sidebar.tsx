import type { IconNode } from 'lucide';
import BookOpen from 'lucide/dist/esm/icons/book-open.mjs';
import Braces from 'lucide/dist/esm/icons/braces.mjs';
import LogOut from 'lucide/dist/esm/icons/log-out.mjs';
import Monitor from 'lucide/dist/esm/icons/monitor.mjs';
import Moon from 'lucide/dist/esm/icons/moon.mjs';
import Search from 'lucide/dist/esm/icons/search.mjs';
import Sun from 'lucide/dist/esm/icons/sun.mjs';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { chooseTimeZone, now, timeZone, zoneName } from '../clock.ts';
import { useConnection } from '../connection.ts';
import { Icon } from '../parts/icon.tsx';
import {
  type ColorScheme,
  chooseColorScheme,
  colorSchemes,
  keptColorScheme,
  onColorChange,
} from '../preference.ts';
import { href, offeredSections, pathOf } from '../route.ts';
import { commandKey, type Shortcut } from './shortcuts.ts';

/** Id of the sidebar, which the menu button of a narrow screen opens. */
export const sidebarId = 'sidebar';

/** Number of waiting actions, after a word that they belong to. Renders nothing for none. */
export function WaitingCount({ waiting }: { waiting: string }) {
  if (waiting === '') return null;
  return (
    <span class="count" translate={false}>
      {waiting}
      <span class="hidden"> waiting</span>
    </span>
  );
}

/** Sidebar with the navigation. On a narrow screen it is a menu that opens over the page. */
export function Sidebar({
  place,
  hash,
  waiting,
  onSearch,
}: {
  /** Place of the current page. */
  place: string;
  /** Current location; a change closes the menu. */
  hash: string;
  /** Number of waiting actions as text; empty for none. */
  waiting: string;
  /** Opens the command palette. */
  onSearch: () => void;
}) {
  const { identity } = useConnection();
  const sidebar = useRef<HTMLElement>(null);
  const close = () => sidebar.current?.matches(':popover-open') && sidebar.current.hidePopover();
  useLayoutEffect(() => void close(), [hash]);
  useLayoutEffect(() => {
    const wide = matchMedia('(width >= 60rem)');
    wide.addEventListener('change', close);
    return () => wide.removeEventListener('change', close);
  }, []);
  return (
    <header ref={sidebar} id={sidebarId} class="sidebar" popover="auto">
      <Logo />
      <button
        type="button"
        class="search"
        onClick={() => {
          close();
          onSearch();
        }}
      >
        <Icon of={Search} />
        Search <kbd>{commandKey} K</kbd>
      </button>
      <nav aria-label="Pages">
        {offeredSections(identity).map(({ title, sections }) => (
          <div key={title}>
            <p class="section-group" aria-hidden="true">
              {title}
            </p>
            <ul aria-label={title}>
              {sections.map((section) => (
                <li key={section.place}>
                  <a
                    href={href(pathOf(section))}
                    aria-current={section.place === place ? 'page' : undefined}
                    onClick={close}
                  >
                    <Icon of={section.icon} />
                    {section.title} {section.place === 'approvals' && <WaitingCount waiting={waiting} />}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div class="sidebar-end">
        <ul>
          <li>
            <a href="../docs/">
              <Icon of={BookOpen} />
              Docs
            </a>
          </li>
          <li>
            <a href="../openapi.json">
              <Icon of={Braces} />
              API
            </a>
          </li>
        </ul>
        <ColorSchemeChoice />
        <ZoneChoice />
        <Account />
      </div>
    </header>
  );
}

/** The signed-in user, and the way out unless a proxy signs the user in. */
function Account() {
  const { identity, signOut } = useConnection();
  const { tenant, name, kind, role } = identity;
  return (
    <div class="account">
      {tenant !== undefined && (
        <p>
          {tenant} {kind === 'test' && <span class="badge">test</span>}
          {name !== undefined && (
            <>
              <br />
              <span class="faint">{name}</span> {role !== undefined && <span class="badge">{role}</span>}
            </>
          )}
        </p>
      )}
      {signOut !== undefined && (
        <button type="button" class="quiet" onClick={signOut}>
          <Icon of={LogOut} />
          Sign out
        </button>
      )}
    </div>
  );
}

const choices: Readonly<Record<ColorScheme, { readonly title: string; readonly icon: IconNode }>> = {
  system: { title: 'Same as the system', icon: Monitor },
  light: { title: 'Light', icon: Sun },
  dark: { title: 'Dark', icon: Moon },
};

/** Choice of the color scheme: radio buttons that look like one control. */
function ColorSchemeChoice() {
  const [chosen, setChosen] = useState(keptColorScheme);
  const name = useId();
  useEffect(() => {
    const shown = new AbortController();
    onColorChange(() => setChosen(keptColorScheme()), shown.signal);
    return () => shown.abort();
  }, []);
  return (
    <div class="color-scheme" role="radiogroup" aria-label="Color scheme">
      {colorSchemes.map((scheme) => {
        const { title, icon } = choices[scheme];
        return (
          <label key={scheme} title={title}>
            <input
              class="hidden"
              type="radio"
              name={name}
              checked={scheme === chosen}
              onChange={() => {
                chooseColorScheme(scheme);
                // Also where the browser blocks storage.
                setChosen(scheme);
              }}
            />
            <Icon of={icon} />
            <span class="hidden">{title}</span>
          </label>
        );
      })}
    </div>
  );
}

/** Choice of the zone of all times: a button, because it loads the page again. */
function ZoneChoice() {
  const isUtc = timeZone === 'UTC';
  return (
    <button type="button" class="zone" onClick={() => chooseTimeZone(isUtc ? 'local' : 'UTC')}>
      {`Times in ${zoneName(now())} (show ${isUtc ? 'local time' : 'UTC'})`}
    </button>
  );
}

/** Name of the product, with a link to the first page. */
export function Logo() {
  return (
    <a class="name" href={href([])}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <rect width={16} height={16} rx={3} />
        <path d="M4 8.5l2.5 2.5L12 5.5" />
      </svg>
      actlog
    </a>
  );
}

/** Dialog with the keyboard shortcuts. */
export function ShortcutList({
  shortcuts,
  onClose,
}: {
  shortcuts: readonly Shortcut[];
  onClose: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="shortcuts-title" onClose={onClose}>
      <h2 id="shortcuts-title">Keyboard shortcuts</h2>
      <dl class="shortcuts">
        {shortcuts.map(({ keys, title }) => (
          <>
            <dt key={`${title} title`}>{title}</dt>
            <dd key={title}>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </>
        ))}
      </dl>
      <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
