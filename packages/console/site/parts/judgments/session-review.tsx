import {
  assignSession,
  commentOnSession,
  getSessionReview,
  handleSession,
  reopenSession,
} from '@actlog/client/server';
import type { SessionReview as Review, RiskJudgmentDraft } from '@actlog/protocol';
import { wholeScore } from '@actlog/protocol';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useConnection } from '../../connection.ts';
import { useAction } from '../../hooks/use-action.ts';
import { useLoaded } from '../../hooks/use-loaded.ts';
import { may } from '../../identity.ts';
import { scopeText } from '../../judgment-text.ts';
import { href } from '../../route.ts';
import { Field, submitted } from '../field.tsx';
import { Problem } from '../problem.tsx';
import { actorName, Time } from '../time.tsx';
import { JudgmentForm } from './judgment-form.tsx';

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
