import type { PolicyDecisionPage } from '@actlog/protocol';
import Scale from 'lucide/dist/esm/icons/scale.mjs';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { serverPages, useList } from '../hooks/use-list.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Choice, Field, submitted, trimmed } from '../parts/field.tsx';
import { type CsvColumns, SavedViews, SaveList } from '../parts/list-tools.tsx';
import { Decider } from '../parts/policies/policy-link.tsx';
import { ListTable } from '../parts/table.tsx';
import { ActingAgent, Time, TraceLink } from '../parts/time.tsx';
import { href } from '../route.ts';
import { spanWords } from '../sessions/session-search.ts';

const effects = { '': 'any', deny: 'deny', require_approval: 'waits for approval', allow: 'allow' };

/** Words for what became of a held action. */
const heldTexts = {
  pending: 'held',
  approved: 'held, approved',
  denied: 'held, denied',
  expired: 'held, expired',
  withdrawn: 'held, withdrawn',
};

/** Text for a service that has decided nothing yet. */
function NoDecision() {
  return (
    <EmptyState icon={Scale} title="No action was checked yet.">
      <p>
        A guarded agent asks before each call, and every response is listed here.{' '}
        <a href="../docs/guides/guard-and-approvals">Guard an agent</a>:
      </p>
      <pre>{`new Recorder({ guard: { mode: 'enforce', onUnavailable: 'deny' } })`}</pre>
    </EmptyState>
  );
}

/** Columns of the saved file. */
const columns: CsvColumns<PolicyDecisionPage['items'][number]> = {
  time: ({ decidedAt }) => decidedAt,
  id: ({ id }) => id,
  agentId: ({ agentId }) => agentId,
  sessionId: ({ sessionId }) => sessionId,
  toolName: ({ toolName }) => toolName,
  decision: ({ decision }) => decision,
  decidedBy: ({ decidedBy }) => decidedBy,
  policies: ({ matched }) => matched.map(({ policyName }) => policyName).join('; '),
  argumentsHash: ({ argumentsHash }) => argumentsHash,
};

/** Page with the decisions of the policies, newest first, filtered by the address. */
export function Decisions({ query }: { query: URLSearchParams }) {
  const { client } = useConnection();
  const agentId = query.get('agent') ?? '';
  const toolName = query.get('tool') ?? '';
  const sessionId = query.get('session') ?? '';
  const decision = query.get('decision') ?? '';
  const since = query.get('since') ?? '';
  const until = query.get('until') ?? '';
  const dryRun = query.get('dryRun') ?? '';
  const given = { agentId, toolName, sessionId, decision, since, until, dryRun };
  const list = serverPages<PolicyDecisionPage>(
    client,
    '/server/v1/decisions',
    Object.fromEntries(Object.entries(given).filter(([, value]) => value)),
  );
  const shown = useList(`decisions ${query}`, list, { everyMs: 5000, nameOf: ({ id }) => id });
  const form = useRef<HTMLFormElement>(null);
  // The fields follow the address and keep the focus.
  useLayoutEffect(() => form.current?.reset(), [agentId, toolName, sessionId, decision]);
  const isFiltered = [agentId, toolName, sessionId, decision, since, until, dryRun].some(
    (filter) => filter !== '',
  );
  return (
    <>
      <h1>Decisions</h1>
      <form
        ref={form}
        class="filters"
        onSubmit={submitted((fields) => {
          location.hash = href(['decisions'], { since, until, dryRun, ...trimmed(fields) });
        })}
      >
        <Field label="Agent">
          <input name="agent" defaultValue={agentId} placeholder="any" spellcheck={false} />
        </Field>
        <Field label="Tool">
          <input name="tool" defaultValue={toolName} placeholder="any" spellcheck={false} />
        </Field>
        <Field label="Session">
          <input name="session" defaultValue={sessionId} placeholder="any" spellcheck={false} />
        </Field>
        <Choice key={decision} label="Decision" name="decision" options={effects} value={decision} />
        <button type="submit">Filter</button>
        {isFiltered && <a href={href(['decisions'])}>Show all</a>}
      </form>
      {(since !== '' || until !== '') && (
        <p class="faint">
          Only decisions {spanWords(since, until)}.{' '}
          <a href={href(['decisions'], { agent: agentId, tool: toolName, session: sessionId, decision })}>
            Any time
          </a>
        </p>
      )}
      <div class="list-tools">
        <SavedViews place="decisions" query={query} />
        <SaveList
          name="decisions"
          columns={columns}
          list={(page, signal) => list({ ...page, limit: 200 }, signal)}
        />
      </div>
      <ListTable
        shown={shown}
        caption="Decisions, newest first"
        columns={['Tool', 'Decision', 'Agent', 'Session', 'Decided by', 'Time']}
        empty={isFiltered ? 'No decision matches.' : <NoDecision />}
        row={(one) => (
          <tr key={one.id}>
            <th scope="row">
              <span class="whole">{one.toolName}</span>
            </th>
            <td>
              <span class={`badge effect-${one.decision}`}>{effects[one.decision]}</span>{' '}
              {one.heldStatus !== null && <span class="badge">{heldTexts[one.heldStatus]}</span>}
              {one.dryRun && <span class="badge">dry run</span>}
            </td>
            <td>
              <ActingAgent {...one} />
            </td>
            <td>
              {one.sessionId !== null && (
                <a class="whole" href={href(['sessions', one.sessionId])}>
                  {one.sessionId}
                </a>
              )}
            </td>
            <td>
              <Decider decision={one} />
            </td>
            <td>
              <Time at={one.decidedAt} /> <TraceLink traceparent={one.traceparent} label="Trace" />
            </td>
          </tr>
        )}
      />
    </>
  );
}
