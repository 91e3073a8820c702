import { createJudgment, previewJudgment } from '@actlog/client/server';
import type { RiskJudgmentDraft, RiskJudgmentEffect, SessionReview } from '@actlog/protocol';
import { wholeScore } from '@actlog/protocol';
import { useState } from 'preact/hooks';
import { useConnection } from '../../connection.ts';
import { useAction } from '../../hooks/use-action.ts';
import { effectText } from '../../judgment-text.ts';
import { href } from '../../route.ts';
import { Checks } from '../checks.tsx';
import { Choice, Field, submitted } from '../field.tsx';
import { Problem } from '../problem.tsx';

const dayMs = 24 * 3_600_000;
const ends = { '': 'never', '7': 'after a week', '30': 'after 30 days', '90': 'after 90 days' };
const wholeSession = 'the whole session';

/** A session and its factors, as far as a judgment about them needs them. */
interface JudgedSession {
  readonly sessionId: string;
  readonly agentId: string;
  readonly factors: SessionReview['factors'];
  /** Returns the title of a rule. */
  readonly titleOf: (ruleId: string) => string;
}

/** Form that marks a reason as expected, or confirms an attack. It shows the effect on past sessions before it saves. */
export function JudgmentForm({
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
