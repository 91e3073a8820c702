import type { Risk, SessionDetail, StoredEvent } from '@actlog/client';
import type { SessionMarks } from '@actlog/protocol';
import type { ComponentChildren } from 'preact';
import { useConnection } from '../connection.ts';
import { countText } from '../count-text.ts';
import {
  allFactors,
  eventSubject,
  factorsByEvent,
  markOf,
  readMarks,
  riskyIds,
} from '../events/event-marks.ts';
import { timeSinceStart } from '../events/event-rows.ts';
import { useLoaded } from '../hooks/use-loaded.ts';
import { Loading, WayBack } from '../parts/empty-state.tsx';
import { Problem } from '../parts/problem.tsx';
import { RiskScore } from '../parts/risk/risk-score.tsx';
import { MarkBadges } from '../parts/story/timeline.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { href } from '../route.ts';

/** A session with what the service knows of all its events. */
interface Compared {
  readonly session: SessionDetail;
  readonly risk: Risk;
  /** Undefined from a service that does not count what stands out. */
  readonly marks: SessionMarks | undefined;
}

/** Page that shows two sessions side by side, by what the service counts: it reads none of their events. */
export function Comparison({ one, other }: { one: string; other: string }) {
  const { client } = useConnection();
  const { data, error, reload } = useLoaded(
    `comparison ${JSON.stringify([one, other])}`,
    (signal) => {
      const read = async (id: string): Promise<Compared> => {
        const [session, risk, marks] = await Promise.all([
          client.sessions.get(id, { limit: 1 }, { signal }),
          client.sessions.risk(id, { signal }),
          readMarks(client, id, signal),
        ]);
        return { session, risk, marks };
      };
      return Promise.all([read(one), read(other)] as const);
    },
    { everyMs: 15_000 },
  );
  return (
    <>
      <WayBack place="sessions" title="Sessions" />
      <h1>Two sessions</h1>
      <Problem error={error} onRetry={reload} />
      {data === undefined && error === undefined && <Loading rows={12} />}
      {data !== undefined && (
        <div class="comparison">
          <Facts pair={data} />
          <section aria-labelledby="factors">
            <h2 id="factors">Reasons of the risk</h2>
            <Factors pair={data} />
          </section>
          <section aria-labelledby="tools">
            <h2 id="tools">Tools</h2>
            <Tools pair={data} />
          </section>
          <section aria-labelledby="calls">
            <h2 id="calls">What stands out in one of them only</h2>
            <OnlyInOne pair={data} />
          </section>
        </div>
      )}
    </>
  );
}

type Pair = readonly [Compared, Compared];

const idOf = ({ session: { id = '' } }: Compared) => id;

/** Names of the columns: both sessions. */
function columnsOf(pair: Pair, first: string): string[] {
  return [first, ...pair.map(idOf)];
}

/** A row of the comparison; `isSame` rows are faint. */
function Row({
  title,
  pair,
  isSame,
  cell,
}: {
  title: ComponentChildren;
  pair: Pair;
  isSame: boolean;
  cell: (compared: Compared, index: number) => ComponentChildren;
}) {
  return (
    <tr class={isSame ? 'same' : undefined}>
      <th scope="row">{title}</th>
      {pair.map((compared, index) => (
        <td key={index === 0 ? 'one' : 'other'}>{cell(compared, index)}</td>
      ))}
    </tr>
  );
}

const numberFacts: readonly (readonly [string, (compared: Compared) => number | undefined])[] = [
  ['Events', ({ session }) => session.eventCount],
  ['Errors', ({ session, marks }) => marks?.counts.errors ?? session.errorCount],
  ['Denials', ({ marks }) => marks?.counts.denials],
  ['Held actions', ({ marks }) => marks?.counts.held],
  ['Tools', ({ session }) => session.toolNames?.length],
];

/** Returns the time between the first and the last event in words. */
function lengthOf({ session: { startedAt, lastEventAt } }: Compared): string {
  return timeSinceStart(lastEventAt, startedAt).replace('+', '');
}

function Facts({ pair }: { pair: Pair }) {
  const [one, other] = pair;
  const agents = ({ session }: Compared) => (session.agentIds ?? [session.agentId]).join(', ');
  const isSame = (of: (compared: Compared) => unknown) => of(one) === of(other);
  return (
    <Table caption="Two sessions" columns={columnsOf(pair, 'Session')}>
      <Row
        title="Page"
        pair={pair}
        isSame={false}
        cell={(compared) => (
          <a href={href(['sessions', idOf(compared)])} translate={false}>
            {idOf(compared)}
          </a>
        )}
      />
      {pair.every(({ marks }) => marks !== undefined) && (
        <Row
          title="What it did"
          pair={pair}
          isSame={isSame(({ marks }) => marks?.sentence)}
          cell={({ marks }) => <span translate={false}>{marks?.sentence}</span>}
        />
      )}
      <Row
        title="Risk"
        pair={pair}
        isSame={isSame(({ risk }) => risk.score)}
        cell={({ risk: { score, level = '' } }) => (
          <RiskScore risk={score === undefined ? null : { score, level }} />
        )}
      />
      <Row title="Agents" pair={pair} isSame={isSame(agents)} cell={agents} />
      {numberFacts
        .filter(([, of]) => of(one) !== undefined || of(other) !== undefined)
        .map(([title, of]) => (
          <Row
            key={title}
            title={title}
            pair={pair}
            isSame={isSame(of)}
            cell={(compared) => <span class="number">{countText(of(compared) ?? 0)}</span>}
          />
        ))}
      <Row
        title="Started"
        pair={pair}
        isSame={false}
        cell={({ session }) => <Time at={session.startedAt} />}
      />
      <Row title="Length" pair={pair} isSame={isSame(lengthOf)} cell={lengthOf} />
    </Table>
  );
}

function Factors({ pair }: { pair: Pair }) {
  const found = pair.map(({ risk }) => new Map(allFactors(risk).map((factor) => [factor.ruleId, factor])));
  const rules = new Map(found.flatMap((factors) => [...factors]).map(([id, { title }]) => [id, title]));
  if (rules.size === 0) return <p class="empty">No reason raises the risk of either.</p>;
  return (
    <Table caption="Reasons of each session" columns={columnsOf(pair, 'Reason')}>
      {[...rules].map(([ruleId, title]) => {
        const points = found.map((factors) => factors.get(ruleId)?.delta.toFixed(1));
        return (
          <Row
            key={ruleId}
            title={title}
            pair={pair}
            isSame={points[0] === points[1]}
            cell={(_, index) => {
              const delta = points[index];
              return delta === undefined ? (
                <span class="faint">no</span>
              ) : (
                <>
                  yes <span class="faint">(−{delta} without it)</span>
                </>
              );
            }}
          />
        );
      })}
    </Table>
  );
}

/** Returns the calls of a tool in words: a session with many tools keeps the counts of some only. */
function callsOf({ session, marks }: Compared, toolName: string): string {
  const counted = marks?.tools?.find((tool) => tool.toolName === toolName);
  if (counted !== undefined) return counted.calls === 0 ? '0, only denied' : countText(counted.calls);
  return session.toolNames?.includes(toolName) ? 'called' : '0';
}

function Tools({ pair }: { pair: Pair }) {
  const names = new Set(
    pair.flatMap(({ session, marks }) => [
      ...(marks?.tools ?? []).map(({ toolName }) => toolName),
      ...(session.toolNames ?? []),
    ]),
  );
  if (names.size === 0) return <p class="empty">Neither called a tool.</p>;
  const rows = [...names].map((name) => ({ name, calls: pair.map((each) => callsOf(each, name)) }));
  const isSame = ({ calls }: { readonly calls: readonly string[] }) => calls[0] === calls[1];
  // Stable: tools that differ come first, in the order of their calls.
  rows.sort((left, right) => Number(isSame(left)) - Number(isSame(right)));
  return (
    <>
      <Table caption="Calls of each tool" columns={columnsOf(pair, 'Tool')}>
        {rows.map((row) => (
          <Row
            key={row.name}
            title={
              <a href={href(['tools', row.name])} translate={false}>
                {row.name}
              </a>
            }
            pair={pair}
            isSame={isSame(row)}
            cell={(_, index) => <span class="number">{row.calls[index]}</span>}
          />
        ))}
      </Table>
      <p class="faint">Calls, without those that were denied.</p>
    </>
  );
}

/** Identifies what happened, wherever and whenever. */
function kindOf({ category, payload }: Pick<StoredEvent, 'category' | 'payload'>): string {
  return JSON.stringify([category, payload?.toolName, payload?.responseStatus, payload?.decision]);
}

/** Events that stand out in one session, with none of their kind in the other. */
function OnlyInOne({ pair }: { pair: Pair }) {
  if (pair.some(({ marks }) => marks === undefined)) {
    return <p class="empty">This service does not say what stands out.</p>;
  }
  const kinds = pair.map(({ marks }) => new Set(marks?.notable.map(kindOf)));
  return (
    <div class="panels">
      {pair.map((compared, index) => {
        const { marks, risk, session } = compared;
        const notable = (marks?.notable ?? []) as readonly StoredEvent[];
        const own = notable.filter((event) => !kinds[1 - index]?.has(kindOf(event)));
        const byEvent = factorsByEvent(risk);
        const risky = riskyIds(risk);
        return (
          <section key={index === 0 ? 'one' : 'other'} class="panel" aria-label={`Only in ${idOf(compared)}`}>
            <h3 class="one-line" translate={false}>
              {idOf(compared)}
            </h3>
            {own.length === 0 && <p class="empty">Nothing that the other does not have too.</p>}
            {own.length > 0 && (
              <ol class="key-calls">
                {own.map((event) => {
                  const mark = markOf(event, byEvent, risky);
                  return (
                    <li key={event.eventId} class={`mark-${mark?.kinds[0]}`}>
                      <a href={href(['sessions', idOf(compared)], { event: event.eventId })}>
                        {eventSubject(event)}
                      </a>
                      <span class="number faint">
                        {timeSinceStart(event.sourceTimestamp, session.startedAt)}
                      </span>
                      {mark !== undefined && <MarkBadges mark={mark} />}
                    </li>
                  );
                })}
              </ol>
            )}
          </section>
        );
      })}
    </div>
  );
}
