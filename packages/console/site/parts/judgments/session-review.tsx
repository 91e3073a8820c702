import {
  assignSession,
  commentOnSession,
  createJudgment,
  getSessionReview,
  handleSession,
  previewJudgment,
  reopenSession,
} from '@actlog/client/server';
import {
  type SessionReview as Review,
  type RiskJudgmentDraft,
  type RiskJudgmentEffect,
  wholeScore,
} from '@actlog/protocol';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useConnection } from '../../connection.ts';
import { useAction } from '../../hooks/use-action.ts';
import { useLoaded } from '../../hooks/use-loaded.ts';
import { may } from '../../identity.ts';
import { effectText, scopeText } from '../../judgment-text.ts';
import { href } from '../../route.ts';
import { Checks } from '../checks.tsx';
import { Choice, Field, submitted } from '../field.tsx';
import { Problem } from '../problem.tsx';
import { actorName, Time } from '../time.tsx';

/** Form that is open in the review of a session. */
type OpenForm = RiskJudgmentDraft['kind'] | 'handled';

/** A form to open, and the rule that it begins with. */
export interface AskedForm {
  readonly form: OpenForm;
  readonly ruleId?: string;
}

const labels: Readonly<Record<OpenForm, string>> = {
  expected: 'Mark a reason as expected',
  attack: 'Confirm an attack',
  handled: 'Mark as handled',
};

/** Findings of people about a session, with the forms to add some. */
export function SessionReview({
  sessionId,
  agentId,
  version,
  titleOf,
  asked,
  onAsk,
  onChange,
}: {
  sessionId: string;
  agentId: string;
  /** Changes with the risk of the session. */
  version: unknown;
  /** Returns the title of a rule. */
  titleOf: (ruleId: string) => string;
  /** Form that is open; undefined for none. */
  asked: AskedForm | undefined;
  onAsk: (asked: AskedForm | undefined) => void;
  /** Called when the risk of the session may have changed. */
  onChange: () => void;
}) {
  const { client, identity } = useConnection();
  const [news, setNews] = useState('');
  const heading = useRef<HTMLHeadingElement>(null);
  const { data, error, reload } = useLoaded(
    `review ${sessionId}`,
    (signal) => getSessionReview(client, sessionId, { signal }),
    { version },
  );
  useEffect(() => {
    // The form may be far from the button that opened it.
    if (asked?.ruleId !== undefined) heading.current?.focus();
  }, [asked]);
  const done = (text: string) => {
    setNews(text);
    onAsk(undefined);
    reload();
    onChange();
  };
  const forms = (['handled', 'expected', 'attack'] as const).filter((form) => {
    if (form === 'handled') return data?.status !== 'handled' && may(identity, 'decide');
    return may(identity, 'manage') && (form === 'attack' || (data?.factors.length ?? 0) > 0);
  });
  return (
    <section class="review" aria-labelledby="review">
      <h3 id="review" ref={heading} tabIndex={-1}>
        Review
      </h3>
      <Problem error={error} onRetry={reload} />
      {data !== undefined && <ReviewState review={data} onReopened={() => done('Open again.')} />}
      <p role="status" class={news && 'news'}>
        {news}
      </p>
      {data !== undefined && forms.length > 0 && (
        <p class="buttons">
          {forms.map((form) => (
            <button
              key={form}
              type="button"
              class="quiet"
              aria-expanded={asked?.form === form}
              onClick={() => {
                setNews('');
                onAsk(asked?.form === form ? undefined : { form });
              }}
            >
              {labels[form]}
            </button>
          ))}
        </p>
      )}
      {data?.notes !== undefined && (
        <Notes
          review={data}
          onChanged={(text) => {
            setNews(text);
            reload();
          }}
        />
      )}
      {data !== undefined && asked?.form === 'handled' && (
        <HandleForm
          sessionId={sessionId}
          onHandled={() => done('Handled. It opens again when its score rises.')}
        />
      )}
      {data !== undefined && (asked?.form === 'expected' || asked?.form === 'attack') && (
        <JudgmentForm
          key={`${asked.form} ${asked.ruleId}`}
          kind={asked.form}
          session={{ sessionId, agentId, factors: data.factors, titleOf }}
          ruleId={asked.ruleId}
          onSaved={done}
        />
      )}
    </section>
  );
}

/** State of the review: who handled the session, and the judgments that apply to it. */
function ReviewState({ review, onReopened }: { review: Review; onReopened: () => void }) {
  const { client, identity } = useConnection();
  const { handling, status, judgments, risk, riskWithoutJudgments: plain } = review;
  const reopen = useAction(async () => {
    await reopenSession(client, review.sessionId);
    onReopened();
  });
  return (
    <>
      {handling === null && judgments.length === 0 && <p class="faint">Nobody has handled this session.</p>}
      {handling !== null && (
        <p>
          <span class={`badge${status === 'handled' ? ' good' : ''}`}>{status}</span>{' '}
          {actorName(handling.handledBy, handling.handledByPrincipal)} handled it{' '}
          <Time at={handling.handledAt} /> at {handling.score}
          {status === 'reopened' && ', and its score has risen since'}: <bdi>{handling.reason}</bdi>{' '}
          {may(identity, 'decide') && (
            <button type="button" class="quiet" aria-disabled={reopen.isBusy} onClick={() => reopen.run()}>
              {status === 'handled' ? 'Open again' : 'Forget that it was handled'}
            </button>
          )}
        </p>
      )}
      <Problem error={reopen.error} />
      {judgments.length > 0 && (
        <ul class="judgments">
          {judgments.map((judgment) => (
            <li key={judgment.id}>
              <span class={`badge${judgment.kind === 'attack' ? ' bad' : ' good'}`}>
                {judgment.kind === 'attack' ? 'confirmed attack' : 'expected'}
              </span>{' '}
              {scopeText(judgment)}: <bdi>{judgment.reason}</bdi>{' '}
              <span class="faint">{actorName(judgment.createdBy, judgment.createdByPrincipal)}</span>
            </li>
          ))}
        </ul>
      )}
      {plain.score !== risk.score && (
        <p class="faint">
          Without the judgments, the score would be {wholeScore(plain.score)}, {plain.level}.{' '}
          <a href={href(['judgments'])}>All judgments</a>
        </p>
      )}
    </>
  );
}

function HandleForm({ sessionId, onHandled }: { sessionId: string; onHandled: () => void }) {
  const { client } = useConnection();
  const handle = useAction(async (reason: string) => {
    await handleSession(client, sessionId, reason);
    onHandled();
  });
  return (
    <form onSubmit={submitted((form) => handle.run(String(form.get('reason'))))}>
      <p class="faint">A handled session leaves the riskiest ones until its score rises.</p>
      <Field label="Reason" hint="What was found out, for those who come after you.">
        <textarea name="reason" required maxLength={1000} rows={2} />
      </Field>
      <Problem error={handle.error} />
      <p class="buttons">
        <button type="submit" aria-disabled={handle.isBusy}>
          Mark as handled
        </button>
      </p>
    </form>
  );
}

/** Person that a session is assigned to, and the comments of people, with the forms to change them. */
function Notes({ review, onChanged }: { review: Review; onChanged: (text: string) => void }) {
  const { client, identity } = useConnection();
  const { sessionId, assignee, notes } = review;
  const comment = useAction(async (form: HTMLFormElement) => {
    await commentOnSession(client, sessionId, String(new FormData(form).get('comment')));
    form.reset();
    onChanged('Comment added.');
  });
  const assign = useAction(async (to: string | null) => {
    await assignSession(client, sessionId, to);
    onChanged(to === null ? 'Assigned to nobody.' : `Assigned to ${to}.`);
  });
  const mayWrite = may(identity, 'decide');
  const me = identity.name;
  return (
    <div class="session-notes">
      {notes.length > 0 && (
        <ol aria-label="Comments and assignments">
          {notes.map(({ id, kind, text, writtenAt, writtenBy, writtenByPrincipal }) => (
            <li key={id}>
              <span class="faint">
                {actorName(writtenBy, writtenByPrincipal)} <Time at={writtenAt} />
                {kind === 'assigned' && (text === '' ? ' assigned it to nobody' : ' assigned it to ')}
              </span>
              {kind === 'comment' && <br />}
              <bdi translate={kind === 'comment'}>{text}</bdi>
            </li>
          ))}
        </ol>
      )}
      <div class="filters">
        <p class="assignee">
          {assignee === null ? (
            <span class="faint">Assigned to nobody</span>
          ) : (
            <>
              Assigned to{' '}
              <a href={href(['sessions'], { assignee })} translate={false}>
                <bdi>{assignee}</bdi>
              </a>
            </>
          )}
        </p>
        {mayWrite && me !== undefined && assignee !== me && (
          <button type="button" class="quiet" aria-disabled={assign.isBusy} onClick={() => assign.run(me)}>
            Assign to me
          </button>
        )}
        {mayWrite && assignee !== null && (
          <button type="button" class="quiet" aria-disabled={assign.isBusy} onClick={() => assign.run(null)}>
            Assign to nobody
          </button>
        )}
        {mayWrite && (
          <form class="buttons" onSubmit={submitted((form) => assign.run(String(form.get('assignee'))))}>
            <input
              name="assignee"
              aria-label="Assign to"
              placeholder="another person"
              required
              maxLength={200}
              autocomplete="off"
            />
            <button type="submit" class="quiet">
              Assign
            </button>
          </form>
        )}
      </div>
      {mayWrite && (
        <form class="decide" onSubmit={submitted((_fields, form) => comment.run(form))}>
          <Field label="Comment">
            <textarea name="comment" required maxLength={1000} rows={1} />
          </Field>
          <button type="submit" class="quiet" aria-disabled={comment.isBusy}>
            Add comment
          </button>
        </form>
      )}
      <Problem error={comment.error ?? assign.error} />
    </div>
  );
}

const dayMs = 24 * 3_600_000;
const ends = { '': 'never', '7': 'after a week', '30': 'after 30 days', '90': 'after 90 days' };
const wholeSession = 'the whole session';

/** A session and its factors, as far as a judgment about them needs them. */
interface JudgedSession {
  readonly sessionId: string;
  readonly agentId: string;
  readonly factors: Review['factors'];
  /** Returns the title of a rule. */
  readonly titleOf: (ruleId: string) => string;
}

/** Form that marks a reason as expected, or confirms an attack. It shows the effect on past sessions before it saves. */
function JudgmentForm({
  kind,
  session: { sessionId, agentId, factors, titleOf },
  ruleId,
  onSaved,
}: {
  kind: RiskJudgmentDraft['kind'];
  session: JudgedSession;
  /** Rule that the user chose; undefined for none. */
  ruleId: string | undefined;
  onSaved: (news: string) => void;
}) {
  const { client } = useConnection();
  const isAttack = kind === 'attack';
  const [rule, setRule] = useState(ruleId ?? (isAttack ? '' : (factors[0]?.ruleId ?? '')));
  const [preview, setPreview] = useState<RiskJudgmentEffect>();
  const toolName = factors.find((factor) => factor.ruleId === rule)?.toolName ?? undefined;
  const isWhole = rule === '';

  const draftOf = (form: FormData): RiskJudgmentDraft => {
    const parts = form.getAll('scope');
    const days = Number(form.get('ends'));
    return {
      kind,
      scope: {
        sessionId: isWhole || parts.includes('session') ? sessionId : null,
        agentId: !isWhole && parts.includes('agent') ? agentId : null,
        toolName: !isWhole && parts.includes('tool') ? (toolName ?? null) : null,
        ruleId: isWhole ? null : rule,
      },
      reason: String(form.get('reason')),
      ...(days > 0 && { expiresAt: new Date(Date.now() + days * dayMs).toISOString() }),
    };
  };
  const send = useAction(async (form: FormData) => {
    const draft = draftOf(form);
    if (preview === undefined) return setPreview(await previewJudgment(client, draft));
    const { effect } = await createJudgment(client, draft);
    onSaved(`Saved. ${effectText(effect)}`);
  });
  const rules = Object.fromEntries(factors.map((factor) => [factor.ruleId, titleOf(factor.ruleId)]));
  return (
    <form onInput={() => setPreview(undefined)} onSubmit={submitted((form) => send.run(form))}>
      <p class="faint">
        {isAttack
          ? 'A confirmed session is critical and is never learned. If you choose a reason, sessions that show the same within the scope are at least high.'
          : 'The reason no longer counts where all of it is within the scope: another tool, agent or reason still counts in full.'}
      </p>
      <div class="grid">
        <Choice
          label={isAttack ? 'Confirmed' : 'Expected reason'}
          name="rule"
          options={isAttack ? { '': wholeSession, ...rules } : rules}
          value={rule}
          onChange={setRule}
        />
        <Choice label="Ends" name="ends" options={ends} value="" />
      </div>
      {!isWhole && (
        <Checks
          key={rule}
          label="Only for"
          name="scope"
          options={{
            ...(toolName !== undefined && { tool: `the tool ${toolName}` }),
            agent: `the agent ${agentId}`,
            session: isAttack ? 'this session' : 'this session, until its next action',
          }}
          checked={isAttack ? ['tool'] : ['tool', 'agent']}
        />
      )}
      <Field label="Reason" hint="For those who read the list and the audit log.">
        <textarea name="reason" required maxLength={1000} rows={2} />
      </Field>
      {preview !== undefined && (
        <div class="news" role="status">
          <p>{effectText(preview)}</p>
          {preview.largest.length > 0 && (
            <ul>
              {preview.largest.slice(0, 5).map(({ sessionId: id, before, after }) => (
                <li key={id}>
                  <a href={href(['sessions', id])}>{id}</a>: {wholeScore(before.score)} to{' '}
                  {wholeScore(after.score)}, {after.level}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
      <Problem error={send.error} />
      <p class="buttons">
        <button type="submit" aria-disabled={send.isBusy}>
          {preview === undefined ? 'Show the effect' : 'Save'}
        </button>
      </p>
    </form>
  );
}
