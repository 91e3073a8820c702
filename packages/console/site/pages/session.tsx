import type { ExportProgress, Risk, SessionDetail, StoredEvent } from '@actlog/client';
import type { SessionMarks } from '@actlog/protocol';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { now } from '../clock.ts';
import { useConnection } from '../connection.ts';
import { countText } from '../count-text.ts';
import { eventIdTime } from '../events/event-id-time.ts';
import {
  allFactors,
  type EventMark,
  eventSubject,
  factorsByEvent,
  type MarkKind,
  markKinds,
  markOf,
  markWords,
  readMarks,
  riskyIds,
} from '../events/event-marks.ts';
import { timeSinceStart } from '../events/event-rows.ts';
import { useAction } from '../hooks/use-action.ts';
import { useLoaded } from '../hooks/use-loaded.ts';
import { useSessionStory } from '../hooks/use-session-story.ts';
import { hasKnownOwner, may } from '../identity.ts';
import { Contained } from '../parts/contained.tsx';
import { Loading, WayBack } from '../parts/empty-state.tsx';
import { selectionOf } from '../parts/events/event-controls.tsx';
import { SessionEvents } from '../parts/events/session-events.tsx';
import { HeldActions } from '../parts/held-actions/held-list.tsx';
import { type AskedForm, SessionReview } from '../parts/judgments/session-review.tsx';
import { Problem } from '../parts/problem.tsx';
import { LearnSession, RiskReport } from '../parts/risk/risk-report.tsx';
import { RiskScore } from '../parts/risk/risk-score.tsx';
import { KeyCalls, Timeline } from '../parts/story/timeline.tsx';
import { clockTime, Time } from '../parts/time.tsx';
import { href } from '../route.ts';
import { saveFile } from '../save-file.ts';

/** `true` if sessions of this level are not learned automatically. */
function isSuspect(level: string | undefined): boolean {
  return level !== undefined && level !== 'low';
}

/** Returns the title of a rule that matched; its id if the risk does not name it. */
function titleOf(risk: Risk | undefined, ruleId: string): string {
  return (risk && allFactors(risk).find((factor) => factor.ruleId === ruleId)?.title) ?? ruleId;
}

/** Returns the number of events of each kind, in all events or in those that were read. */
function markCounts(
  counted: SessionMarks | undefined,
  marks: ReadonlyMap<string, EventMark>,
): Readonly<Record<MarkKind, number>> {
  if (counted) {
    const { errors, denials, held, risky } = counted.counts;
    return { denied: denials, held, risk: risky, error: errors };
  }
  const count = (kind: MarkKind) => [...marks.values()].filter(({ kinds }) => kinds.includes(kind)).length;
  return { denied: count('denied'), held: count('held'), risk: count('risk'), error: count('error') };
}

function SessionReport({ id, data, query }: { id: string; data: SessionDetail; query: URLSearchParams }) {
  const { client, identity } = useConnection();
  // The risk is only requested again when the session has new events.
  const risk = useLoaded(id, (signal) => client.sessions.risk(id, { signal }), { version: data.eventCount });
  const marks = useLoaded(`marks ${id}`, (signal) => readMarks(client, id, signal), {
    version: data.eventCount,
  });
  const counted = marks.data;
  const story = useSessionStory(id, data, risk.data, selectionOf(query.get('show')));
  const [asked, setAsked] = useState<AskedForm>();
  const isOwn = hasKnownOwner(identity);
  const { events } = story.log;
  const { startedAt, lastEventAt } = data;
  const notable = useMemo(() => {
    if (counted === undefined) return { events, marks: story.marks };
    const byEvent = factorsByEvent(risk.data);
    const risky = riskyIds(risk.data);
    const known = counted.notable as readonly StoredEvent[];
    const marked = known.flatMap((event) => {
      const mark = markOf(event, byEvent, risky);
      return mark === undefined ? [] : [[event.eventId ?? '', mark] as const];
    });
    return { events: known, marks: new Map(marked) };
  }, [counted, events, story.marks, risk.data]);
  const isRead = counted !== undefined || marks.error !== undefined || story.log.isComplete;
  const counts = markCounts(counted, story.marks);
  // Where only the first events were read, the numbers say so.
  const part =
    counted === undefined && story.unread > 0
      ? `in the first ${countText(events.length)} of ${countText(data.eventCount ?? 0)} events`
      : '';
  return (
    <>
      {counted !== undefined && <p class="sentence">{counted.sentence}</p>}
      <dl class="summary">
        <div>
          <dt>Risk</dt>
          <dd>
            <RiskScore
              risk={
                risk.data?.score === undefined
                  ? data.risk
                  : { score: risk.data.score, level: risk.data.level ?? '' }
              }
            />
          </dd>
        </div>
        <div>
          <dt>{(data.agentIds?.length ?? 1) > 1 ? 'Agents' : 'Agent'}</dt>
          <dd>{(data.agentIds ?? [data.agentId]).join(', ')}</dd>
        </div>
        <div>
          <dt>Events</dt>
          <dd class="number">{data.eventCount}</dd>
        </div>
        <Tally title="Errors" kind="error" count={counts.error} part={part} id={id} />
        <Tally title="Denials" kind="denied" count={counts.denied} part={part} id={id} />
        <div>
          <dt>Started</dt>
          <dd>
            <Time at={data.startedAt} />
          </dd>
        </div>
        <div>
          <dt>Last event</dt>
          <dd>
            <Time at={data.lastEventAt} />
          </dd>
        </div>
        <div>
          <dt>Compare</dt>
          <dd>
            <a href={href(['sessions'], { compare: id })}>Compare with…</a>
          </dd>
        </div>
        <div>
          <dt>Export</dt>
          <dd>
            <ExportButton id={id} eventCount={data.eventCount ?? 0} />
          </dd>
        </div>
      </dl>
      <HeldActions sessionId={id} />
      <section aria-labelledby="story">
        <h2 id="story">What stands out</h2>
        <Contained>
          {marks.error !== undefined && <Problem error={marks.error} onRetry={marks.reload} />}
          {(isRead || events.length > 0) && (
            <>
              <Timeline
                data={{
                  events,
                  marks: counted === undefined ? story.marks : notable.marks,
                  counted,
                  startedAt,
                  lastEventAt,
                  onShow: story.show,
                  onShowFrom: story.showFrom,
                }}
                unread={story.unread}
              />
              <StoryLegend counts={counts} part={part} id={id} isComplete={counted?.isComplete ?? true} />
              <KeyCalls
                events={notable.events}
                marks={notable.marks}
                startedAt={startedAt}
                onShow={story.show}
                part={part}
              />
            </>
          )}
        </Contained>
      </section>
      <section aria-labelledby="risk">
        <h2 id="risk">Risk</h2>
        <Problem error={risk.error} onRetry={risk.reload} />
        {risk.data !== undefined && (
          <Contained>
            <RiskReport
              risk={risk.data}
              labelOf={(eventId, index) =>
                eventLabel([...notable.events, ...events], eventId, index, startedAt)
              }
              onShow={story.show}
              onExpected={
                isOwn && may(identity, 'manage')
                  ? (ruleId) => setAsked({ form: 'expected', ruleId })
                  : undefined
              }
            />
          </Contained>
        )}
        {isOwn && risk.data !== undefined && (
          <Contained>
            <SessionReview
              sessionId={id}
              agentId={data.agentId ?? ''}
              version={data.eventCount}
              titleOf={(ruleId) => titleOf(risk.data, ruleId)}
              asked={asked}
              onAsk={setAsked}
              onChange={risk.reload}
            />
          </Contained>
        )}
        {may(identity, 'manage') && <ToolPolicies tools={data.toolNames} />}
        {isSuspect(risk.data?.level) && isOwn && may(identity, 'manage') && (
          <LearnSession sessionId={id} agentId={data.agentId ?? ''} lastEventAt={data.lastEventAt} />
        )}
      </section>
      <section aria-labelledby="events">
        <h2 id="events" tabIndex={-1}>
          Events
        </h2>
        <Contained>
          <SessionEvents session={data} story={story} />
        </Contained>
      </section>
    </>
  );
}

/** Page with one session: its events, its risk with reasons, and its held actions. */
export function Session({ id, query }: { id: string; query: URLSearchParams }) {
  const { client } = useConnection();
  const { data, error } = useLoaded(id, (signal) => client.sessions.get(id, { limit: 1 }, { signal }), {
    everyMs: 5000,
  });
  return (
    <>
      <WayBack place="sessions" title="Sessions" />
      <h1>{id}</h1>
      <Problem error={error} />
      {data === undefined && error === undefined && <Loading rows={12} />}
      {data !== undefined && <SessionReport id={id} data={data} query={query} />}
    </>
  );
}

/** Links from the tools of a session to a new policy for one of them. */
function ToolPolicies({ tools = [] }: { tools: readonly string[] | undefined }) {
  // In the form of a policy these names would match other tools or several.
  const named = tools.filter((tool) => !/[*,\r\n]|^\s|\s$/.test(tool));
  if (named.length === 0) return null;
  return (
    <p class="links">
      Create a policy for:{' '}
      {named.map((tool) => (
        <a key={tool} href={href(['policies', 'new'], { tool })} aria-label={`Create a policy for ${tool}`}>
          {tool}
        </a>
      ))}
    </p>
  );
}

/** A number of a session that leads to the events that it counts. */
function Tally({
  title,
  kind,
  count,
  part,
  id,
}: {
  title: string;
  kind: MarkKind;
  count: number;
  /** Part of the events that was counted; empty for all. */
  part: string;
  id: string;
}) {
  return (
    <div>
      <dt>{title}</dt>
      <dd class="number">
        {count === 0 ? (
          <span class="faint">0</span>
        ) : (
          <a class={`mark-${kind}`} href={href(['sessions', id], { show: kind })}>
            {countText(count)}
          </a>
        )}
        {part !== '' && <small class="faint"> {part}</small>}
      </dd>
    </div>
  );
}

/** Numbers of the events that stand out, by kind, in the colors of the strip. */
function StoryLegend({
  counts,
  part,
  id,
  isComplete,
}: {
  counts: Readonly<Record<MarkKind, number>>;
  part: string;
  id: string;
  /** `false` if there are more than were counted. */
  isComplete: boolean;
}) {
  return (
    <p class="mark-legend">
      {markKinds.map((kind) =>
        counts[kind] === 0 ? (
          <span key={kind} class="faint">
            <span class="mark-swatch" aria-hidden="true" /> 0 {markWords[kind]}
          </span>
        ) : (
          <a key={kind} class={`mark-${kind}`} href={href(['sessions', id], { show: kind })}>
            <span class="mark-swatch" aria-hidden="true" /> {countText(counts[kind])} {markWords[kind]}
          </a>
        ),
      )}
      {part !== '' && <span class="faint">{part}</span>}
      {!isComplete && <span class="faint">Only the first 50,000 of a kind are counted.</span>}
    </p>
  );
}

/** Returns the name of an event: its tool and time; as much as its id says if it is not among the events. */
function eventLabel(
  events: readonly StoredEvent[],
  eventId: string,
  index: number,
  startedAt: string | undefined,
): string {
  const event = events.find((each) => each.eventId === eventId);
  if (event) return `${eventSubject(event)} ${timeSinceStart(event.sourceTimestamp, startedAt)}`;
  const moment = eventIdTime(eventId);
  return moment ? `event ${clockTime(moment, now())}` : `event ${index + 1}`;
}

/** Button that downloads a session exactly as the service exports it. */
function ExportButton({
  id,
  eventCount,
}: {
  id: string;
  /** Number of expected events. */
  eventCount: number;
}) {
  const { client } = useConnection();
  const [progress, setProgress] = useState<ExportProgress>();
  const download = useRef<AbortController>(undefined);
  useEffect(() => () => download.current?.abort(), []);
  const save = useAction(async () => {
    download.current = new AbortController();
    const { signal } = download.current;
    setProgress(undefined);
    try {
      const { blob } = await client.sessions.exportToBlob(id, { signal, onProgress: setProgress });
      if (!signal.aborted) saveFile(`${id.replaceAll(/[^\w.-]+/g, '_')}.json`, blob);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  });
  return (
    <>
      {/* A single button keeps the keyboard focus. */}
      <button
        type="button"
        class="quiet"
        onClick={({ detail }) => {
          if (!save.isBusy) save.run();
          // Ignore the second half of a double click.
          else if (detail < 2) download.current?.abort();
        }}
      >
        {save.isBusy ? 'Cancel' : 'Download JSON'}
      </button>
      <div role="status">
        {save.isBusy && (
          <small>The file is saved when the download is complete. Stay on this page until then.</small>
        )}
      </div>
      {save.isBusy && (
        <progress aria-label="Download" max={Math.max(1, eventCount)} value={progress?.events ?? 0} />
      )}
      <Problem error={save.error} />
    </>
  );
}
