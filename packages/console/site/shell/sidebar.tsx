import BookOpen from 'lucide/dist/esm/icons/book-open.mjs';
import Braces from 'lucide/dist/esm/icons/braces.mjs';
import Search from 'lucide/dist/esm/icons/search.mjs';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { Icon } from '../parts/icon.tsx';
import { href } from '../route.ts';
import { offeredSections, pathOf } from '../sections.ts';
import { Account } from './account.tsx';
import { ColorSchemeChoice } from './color-scheme-choice.tsx';
import { Logo } from './logo.tsx';
import { commandKey } from './shortcuts.ts';

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
        <Account />
      </div>
    </header>
  );
}
