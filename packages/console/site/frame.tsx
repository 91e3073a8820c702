import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useConnection } from './connection.ts';
import { useReturn } from './hooks/use-return.ts';
import { useShortcuts } from './hooks/use-shortcuts.ts';
import { useVisits } from './hooks/use-visits.ts';
import { VisitContext } from './hooks/visit.ts';
import {
  Agents,
  Approvals,
  Audit,
  CommandPalette,
  Decisions,
  Judgments,
  Keys,
  Policies,
  PolicyEditor,
  Session,
  ShortcutList,
  Webhook,
  Webhooks,
} from './lazy-pages.ts';
import { Overview } from './pages/overview.tsx';
import { Sessions } from './pages/sessions.tsx';
import { Contained } from './parts/contained.tsx';
import { href, parseRoute, type Route } from './route.ts';
import { offeredSections, sectionTitle } from './sections.ts';
import { shortcutsOf } from './shell/shortcuts.ts';
import { Sidebar } from './shell/sidebar.tsx';
import { TopBar } from './shell/top-bar.tsx';
import { visibleText } from './visible-text.ts';
import { CountWaitingContext, useWaiting } from './waiting.ts';

function Place({ route }: { route: Route }) {
  const [place = 'overview', id] = route.path;
  switch (place) {
    case 'overview':
      return <Overview query={route.query} />;
    case 'sessions':
      return id === undefined ? <Sessions query={route.query} /> : <Session key={id} id={id} />;
    case 'approvals':
      return <Approvals query={route.query} />;
    case 'policies':
      return id === undefined ? (
        <Policies query={route.query} />
      ) : (
        <PolicyEditor key={id} id={id} tool={route.query.get('tool') ?? undefined} />
      );
    case 'decisions':
      return <Decisions query={route.query} />;
    case 'agents':
      return <Agents />;
    case 'webhooks':
      return id === undefined ? <Webhooks /> : <Webhook key={id} id={id} query={route.query} />;
    case 'judgments':
      return <Judgments query={route.query} />;
    case 'keys':
      return <Keys />;
    case 'audit':
      return <Audit query={route.query} />;
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
