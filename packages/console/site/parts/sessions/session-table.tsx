import type { Session } from '@actlog/client';
import type { ComponentChildren } from 'preact';
import { href } from '../../route.ts';
import { type SessionSearch, searchWithout } from '../../sessions/session-search.ts';
import { RiskScore } from '../risk/risk-score.tsx';
import { Time } from '../time.tsx';

const shownTools = 4;

function tools({ toolNames = [] }: Session): string {
  const more = toolNames.length - shownTools;
  return toolNames.slice(0, shownTools).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Header of a column that the list can be sorted by. */
function SortHeader({
  search,
  order,
  children,
}: {
  search: SessionSearch;
  /** Order in the address. */
  order: string;
  children: ComponentChildren;
}) {
  const isSorted = search.order === order;
  return (
    <th scope="col" aria-sort={isSorted ? 'descending' : undefined}>
      {isSorted ? (
        <>
          {children} <span aria-hidden="true">↓</span>
        </>
      ) : (
        <a href={href(['sessions'], { ...searchWithout(search, 'order'), order })}>{children}</a>
      )}
    </th>
  );
}

function SessionRow({ session }: { session: Session }) {
  return (
    <tr>
      <th scope="row" class="session">
        <a href={href(['sessions', session.id])}>{session.id}</a>
      </th>
      <td class="session-risk">
        <RiskScore risk={session.risk} />
      </td>
      <td data-label="Agent">{session.agentId}</td>
      <td class="number" data-label="Events">
        {session.eventCount}
      </td>
      <td class={`number ${session.errorCount ? 'bad' : 'faint'}`} data-label="Errors">
        {session.errorCount}
      </td>
      <td class="faint session-tools" data-label="Tools">
        {tools(session)}
      </td>
      <td data-label="Started">
        <Time at={session.startedAt} />
      </td>
      <td data-label="Last event">
        <Time at={session.lastEventAt} />
      </td>
    </tr>
  );
}

/** Table of sessions. In a narrow place each session is a card whose first line has the risk. */
export function SessionTable({ sessions, search }: { sessions: readonly Session[]; search: SessionSearch }) {
  const caption = search.order === 'risk' ? 'Sessions, riskiest first' : 'Sessions, newest first';
  return (
    <div class="session-list cards">
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col" class="session">
              Session
            </th>
            <SortHeader search={search} order="risk">
              Risk
            </SortHeader>
            <th scope="col">Agent</th>
            <th scope="col">Events</th>
            <th scope="col">Errors</th>
            <th scope="col">Tools</th>
            <SortHeader search={search} order="">
              Started
            </SortHeader>
            <th scope="col">Last event</th>
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => (
            <SessionRow key={session.id} session={session} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
