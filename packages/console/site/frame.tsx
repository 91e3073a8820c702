import { useLayoutEffect, useRef } from 'preact/hooks';
import { useConnection } from './connection.ts';
import { useReturn } from './hooks/use-return.ts';
import { useVisits } from './hooks/use-visits.ts';
import { VisitContext } from './hooks/visit.ts';
import { managesKeys } from './identity.ts';
import { Agents } from './pages/agents.tsx';
import { Approvals } from './pages/approvals.tsx';
import { Decisions } from './pages/decisions.tsx';
import { Overview } from './pages/overview.tsx';
import { Sessions } from './pages/sessions.tsx';
import { Contained } from './parts/contained.tsx';
import { lazyPage } from './parts/lazy-page.tsx';
import { href, parseRoute, type Route } from './route.ts';
import { visibleText } from './visible-text.ts';
import { CountWaitingContext, useWaiting } from './waiting.ts';

const Audit = lazyPage(async () => (await import('./pages/audit.tsx')).Audit);
const Keys = lazyPage(async () => (await import('./pages/keys.tsx')).Keys);
const Policies = lazyPage(async () => (await import('./pages/policies.tsx')).Policies);
const PolicyEditor = lazyPage(async () => (await import('./pages/policy-editor.tsx')).PolicyEditor);
const Webhooks = lazyPage(async () => (await import('./pages/webhooks.tsx')).Webhooks);
const Webhook = lazyPage(async () => (await import('./pages/webhook.tsx')).Webhook);
const Session = lazyPage(async () => (await import('./pages/session.tsx')).Session);

const places = [
  'overview',
  'sessions',
  'approvals',
  'policies',
  'decisions',
  'agents',
  'webhooks',
  'keys',
  'audit',
] as const;

/** Places that only keys with all scopes may see. */
const administration: ReadonlySet<string> = new Set(['keys', 'audit']);

function titleOf(place: string): string {
  return place.slice(0, 1).toUpperCase() + place.slice(1);
}

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
  const { identity, signOut } = useConnection();
  const main = useRef<HTMLElement>(null);
  const visit = useVisits(main);
  const route = parseRoute(visit.hash);
  const { waiting, countWaiting } = useWaiting();
  const [place = 'overview', id] = route.path;
  const isFirst = useRef(true);

  useLayoutEffect(() => {
    if (!isShown) return;
    // Keyboard and screen reader users continue at the new page, not in the navigation.
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
    scrollTo(0, 0);
  }, [place, id, isShown]);
  useLayoutEffect(() => {
    if (!isShown) return;
    const title = `${[id, titleOf(place)].filter(Boolean).join(' · ')} · actlog`;
    document.title = visibleText(waiting === '' ? title : `(${waiting}) ${title}`);
  }, [place, id, isShown, waiting]);
  useReturn(main, visit);

  return (
    <>
      <header>
        <a class="name" href={href([])}>
          actlog
        </a>
        <nav aria-label="Pages">
          {places
            .filter((name) => !administration.has(name) || managesKeys(identity))
            .map((name) => (
              <a
                key={name}
                href={href(name === 'overview' ? [] : [name])}
                aria-current={place === name ? 'page' : undefined}
              >
                {titleOf(name)}{' '}
                {name === 'approvals' && waiting !== '' && (
                  <span class="count" translate={false}>
                    {waiting}
                    <span class="hidden"> waiting</span>
                  </span>
                )}
              </a>
            ))}
        </nav>
        <p class="identity">
          {identity.tenant !== undefined && <span>{identity.tenant}</span>}
          {identity.name !== undefined && <span class="faint">{identity.name}</span>}
          {identity.role !== undefined && <span class="badge">{identity.role}</span>}
          {identity.kind === 'test' && <span class="badge">test</span>}
          <a href="../openapi.json">API</a>
          {signOut !== undefined && (
            <button type="button" class="quiet" onClick={signOut}>
              Sign out
            </button>
          )}
        </p>
      </header>
      <main ref={main} tabIndex={-1}>
        <Contained key={`${place}/${id}`}>
          <VisitContext.Provider value={visit}>
            <CountWaitingContext.Provider value={countWaiting}>
              <Place route={route} />
            </CountWaitingContext.Provider>
          </VisitContext.Provider>
        </Contained>
      </main>
    </>
  );
}
