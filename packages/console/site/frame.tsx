import Menu from 'lucide/dist/esm/icons/menu.mjs';
import Search from 'lucide/dist/esm/icons/search.mjs';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { tinykeys } from 'tinykeys';
import { now } from './clock.ts';
import { useConnection, useMissingHistory } from './connection.ts';
import { type FollowedLink, type Leaving, useVisits, type Visit, VisitContext } from './hooks/visit.ts';
import { Overview } from './pages/overview.tsx';
import { Sessions } from './pages/sessions.tsx';
import { Contained } from './parts/contained.tsx';
import { Icon } from './parts/icon.tsx';
import { lazyPage } from './parts/lazy-page.tsx';
import { shortTime } from './parts/time.tsx';
import {
  href,
  offeredSections,
  parseRoute,
  pathOf,
  type Route,
  type SectionGroup,
  sectionTitle,
} from './route.ts';
import { shortcutsOf } from './shell/shortcuts.ts';
import { Logo, Sidebar, sidebarId, WaitingCount } from './shell/sidebar.tsx';
import { visibleText } from './visible-text.ts';
import { CountWaitingContext, useWaiting } from './waiting.ts';

/** Maximum time to wait for the rest of the page, in milliseconds, so that reading users are not moved. */
const patienceMs = 10_000;

/** Events that show that the user has started something else. */
const acts = ['wheel', 'touchstart', 'pointerdown', 'keydown', 'focusin'] as const;

function linkIn(main: HTMLElement, { hash, within }: FollowedLink): HTMLAnchorElement | undefined {
  const around = document.getElementById(within);
  const links = [...(around?.querySelectorAll('a') ?? [])];
  return links.find((link) => main.contains(link) && link.hash === hash);
}

/**
 * Scrolls to the user's previous position as far as the page is rendered; returns `true` once it is reached.
 */
function bringBack(main: HTMLElement, { scrollY, link }: Leaving): boolean {
  const found = link && linkIn(main, link);
  if (link !== undefined && found !== undefined) {
    found.focus({ preventScroll: true });
    // Content that was added above it does not move it.
    scrollBy(0, found.getBoundingClientRect().top - link.top);
    return true;
  }
  scrollTo(0, scrollY);
  return link === undefined && Math.abs(window.scrollY - scrollY) < 1;
}

/** Restores the scroll position and the focused link of a returning user. */
function useReturn(main: RefObject<HTMLElement | null>, visit: Visit): void {
  useLayoutEffect(() => {
    const { current } = main;
    const { left } = visit;
    if (current === null || left === undefined) return;
    const waiting = new AbortController();
    const { signal } = waiting;
    // Users who leave again before that keep their position.
    const end = () => {
      visit.left = undefined;
      waiting.abort();
    };
    const tryOn = () => bringBack(current, left) && end();
    // Responses of the service are still to be rendered.
    const observer = new MutationObserver(tryOn);
    observer.observe(current, { childList: true, subtree: true });
    signal.addEventListener('abort', () => observer.disconnect());
    AbortSignal.timeout(patienceMs).addEventListener('abort', end, { signal });
    for (const act of acts) addEventListener(act, end, { signal, passive: true });
    tryOn();
    return () => waiting.abort();
  }, [visit]);
}

function Place({ route }: { route: Route }) {
  const [place = 'overview', id] = route.path;
  switch (place) {
    case 'overview':
      return <Overview query={route.query} />;
    case 'sessions':
      return id === undefined ? (
        <Sessions query={route.query} />
      ) : route.query.has('with') ? (
        <Comparison one={id} other={route.query.get('with') ?? ''} />
      ) : (
        <Session key={id} id={id} query={route.query} />
      );
    case 'events':
      return <Events query={route.query} />;
    case 'approvals':
      return <Approvals id={id} query={route.query} />;
    case 'policies':
      return id === undefined ? (
        <Policies query={route.query} />
      ) : (
        <PolicyEditor key={id} id={id} query={route.query} />
      );
    case 'decisions':
      return <Decisions query={route.query} />;
    case 'agents':
      return id === undefined ? <Agents query={route.query} /> : <AgentPage key={id} id={id} />;
    case 'tools':
      return id === undefined ? <Tools query={route.query} /> : <ToolPage key={id} name={id} />;
    case 'webhooks':
      return id === undefined ? <Webhooks /> : <Webhook key={id} id={id} query={route.query} />;
    case 'channels':
      return <Channels />;
    case 'judgments':
      return <Judgments query={route.query} />;
    case 'keys':
      return <Keys />;
    case 'audit':
      return <Audit query={route.query} />;
    case 'records':
      return <Records query={route.query} />;
    default:
      return (
        <>
          <h1>Page not found</h1>
          <p>
            <a href={href([])}>Go to the overview</a>
          </p>
        </>
      );
  }
}

/** Frame around every page: the navigation and the signed-in user. */
export function Frame({
  isShown,
}: {
  /** `true` if it is visible; it is hidden while the user has to sign in again. */
  isShown: boolean;
}) {
  const { identity } = useConnection();
  const main = useRef<HTMLElement>(null);
  const visit = useVisits(main);
  const route = parseRoute(visit.hash);
  const { waiting, countWaiting } = useWaiting();
  const missingSince = useMissingHistory(visit.hash);
  const [place = 'overview', id] = route.path;
  const isFirst = useRef(true);
  const [dialog, setDialog] = useState<'search' | 'shortcuts'>();
  const openSearch = () => setDialog('search');
  // The event of a closed dialog arrives later, when another one may be open.
  const close = (closed: typeof dialog) => setDialog((open) => (open === closed ? undefined : open));
  const sections = offeredSections(identity);
  useShortcuts(sections, isShown, { onSearch: openSearch, onHelp: () => setDialog('shortcuts') });

  useLayoutEffect(() => {
    if (!isShown) return;
    // Keyboard and screen reader users continue at the new page, not in the navigation.
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
    scrollTo(0, 0);
  }, [place, id, isShown]);
  useLayoutEffect(() => {
    if (!isShown) return;
    const title = `${[id, sectionTitle(place)].filter(Boolean).join(' · ')} · actlog`;
    document.title = visibleText(waiting === '' ? title : `(${waiting}) ${title}`);
  }, [place, id, isShown, waiting]);
  useReturn(main, visit);

  return (
    <div class="shell">
      <TopBar waiting={waiting} onSearch={openSearch} />
      <Sidebar place={place} hash={visit.hash} waiting={waiting} onSearch={openSearch} />
      <main ref={main} tabIndex={-1}>
        <Contained key={`${place}/${id}`}>
          {missingSince && (
            <p role="status">
              The history cannot be reached since {shortTime(missingSince, now())}. Older sessions and events
              are missing on this page.
            </p>
          )}
          <VisitContext.Provider value={visit}>
            <CountWaitingContext.Provider value={countWaiting}>
              <Place route={route} />
            </CountWaitingContext.Provider>
          </VisitContext.Provider>
        </Contained>
      </main>
      {dialog === 'search' && <CommandPalette onClose={() => close('search')} />}
      {dialog === 'shortcuts' && (
        <ShortcutList shortcuts={shortcutsOf(sections)} onClose={() => close('shortcuts')} />
      )}
    </div>
  );
}

const later = () => import('./pages/later-pages.ts');

const Session = lazyPage(async () => (await import('./pages/session.tsx')).Session);
const Comparison = lazyPage(async () => (await import('./pages/session-comparison.tsx')).Comparison);
const Approvals = lazyPage(async () => (await later()).Approvals);
const Policies = lazyPage(async () => (await later()).Policies);
const PolicyEditor = lazyPage(async () => (await later()).PolicyEditor);
const Decisions = lazyPage(async () => (await later()).Decisions);
const Events = lazyPage(async () => (await later()).Events);
const Agents = lazyPage(async () => (await later()).Agents);
const AgentPage = lazyPage(async () => (await later()).AgentPage);
const ToolPage = lazyPage(async () => (await later()).ToolPage);
const Tools = lazyPage(async () => (await later()).Tools);
const Channels = lazyPage(async () => (await later()).Channels);
const Webhooks = lazyPage(async () => (await later()).Webhooks);
const Webhook = lazyPage(async () => (await later()).Webhook);
const Judgments = lazyPage(async () => (await later()).Judgments);
const Keys = lazyPage(async () => (await later()).Keys);
const Audit = lazyPage(async () => (await later()).Audit);
const Records = lazyPage(async () => (await later()).Records);
const CommandPalette = lazyPage(async () => (await later()).CommandPalette, null);
const ShortcutList = lazyPage(async () => (await later()).ShortcutList, null);

/** Bar above the page on a narrow screen, with the button that opens the menu. */
function TopBar({ waiting, onSearch }: { waiting: string; onSearch: () => void }) {
  return (
    <nav class="top-bar" aria-label="Menu">
      <button type="button" class="quiet icon-only" popovertarget={sidebarId} aria-label="Menu">
        <Icon of={Menu} />
      </button>
      <Logo />
      {waiting !== '' && (
        <a href={href(['approvals'])}>
          <WaitingCount waiting={waiting} />
        </a>
      )}
      <button type="button" class="quiet icon-only" aria-label="Search" onClick={onSearch}>
        <Icon of={Search} />
      </button>
    </nav>
  );
}

/** `true` while a dialog is open, which handles its keys itself. */
function hasDialog(): boolean {
  return document.querySelector('dialog[open]') !== null;
}

/**
 * Handles the shortcuts of every page while the user is signed in. All but the search are ignored in fields, where they
 * are text.
 */
function useShortcuts(
  groups: readonly SectionGroup[],
  isShown: boolean,
  handlers: { readonly onSearch: () => void; readonly onHelp: () => void },
): void {
  const latest = useRef({ groups, handlers });
  latest.current = { groups, handlers };
  // Before the first frame, so that no key is lost of who types while the page appears.
  useLayoutEffect(() => {
    if (!isShown) return;
    const press = (act: () => void) => (event: KeyboardEvent) => {
      if (hasDialog()) return;
      event.preventDefault();
      act();
    };
    const search = () => latest.current.handlers.onSearch();
    const sections = latest.current.groups.flatMap(({ sections }) => sections);
    const jumps = sections.map((section) => [
      `g ${section.key}`,
      press(() => {
        location.hash = href(pathOf(section));
      }),
    ]);
    const stops = [
      tinykeys(window, { '$mod+k': press(search) }, { ignore: () => false }),
      tinykeys(window, {
        ...Object.fromEntries(jumps),
        '[Shift]+?': press(() => latest.current.handlers.onHelp()),
        '[Shift]+/': press(() => {
          const filter = document.querySelector<HTMLElement>('main .filters :is(input, select)');
          if (filter === null) search();
          else filter.focus();
        }),
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [isShown]);
}
