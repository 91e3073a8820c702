import type { CheckResult, PolicyCheck } from '@actlog/client';
import { parseExactJson } from '@actlog/protocol';
import { useState } from 'preact/hooks';
import { useAction } from '../../hooks/use-action.ts';
import { Field, submitted } from '../field.tsx';
import { Problem } from '../problem.tsx';
import { PolicyLink } from './policy-link.tsx';

/** Returns the text of a field; undefined if it is empty. */
function given(form: FormData, name: string): string | undefined {
  return String(form.get(name) ?? '').trim() || undefined;
}

/** @throws Error for a field that is not a JSON object. */
function parsedArguments(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  const value = parsed(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new Error('The arguments must be a JSON object, such as {"amount": 250}.');
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

/** Form that checks an action as a dry run: nothing is held, counted or reported. */
export function PolicyTrial({
  title,
  button,
  onTry,
}: {
  title: string;
  /** Label of the button. */
  button: string;
  /** Checks the action. */
  onTry: (check: PolicyCheck) => PromiseLike<CheckResult>;
}) {
  const [result, setResult] = useState<CheckResult>();
  const check = useAction(async (form: FormData) => {
    setResult(undefined);
    const shown = parsedArguments(given(form, 'arguments'));
    const [framework, environment] = [given(form, 'framework'), given(form, 'environment')];
    const action = {
      toolName: given(form, 'toolName') ?? '',
      argumentsHash: 'sha256:trial',
      ...(shown && { arguments: shown }),
    };
    const body = {
      agentId: given(form, 'agentId') ?? '',
      action,
      ...(framework && { framework }),
      ...(environment && { environment }),
    };
    setResult(await onTry(body));
  });
  return (
    <section aria-labelledby="trial">
      <h2 id="trial">{title}</h2>
      <form class="grid" onSubmit={submitted(check.run)}>
        <Field label="Agent">
          <input name="agentId" required spellcheck={false} />
        </Field>
        <Field label="Tool">
          <input name="toolName" required spellcheck={false} />
        </Field>
        <Field label="Framework">
          <input name="framework" spellcheck={false} />
        </Field>
        <Field label="Environment">
          <input name="environment" spellcheck={false} />
        </Field>
        <Field label="Arguments that the agent shows" isRow hint="A JSON object; conditions read it as args.">
          <textarea name="arguments" rows={3} spellcheck={false} />
        </Field>
        <p class="buttons">
          <button type="submit" aria-disabled={check.isBusy}>
            {button}
          </button>
          <span class="faint">Nothing is held or counted.</span>
        </p>
      </form>
      <Problem error={check.error} />
      <div role="status">{result !== undefined && <Verdict result={result} />}</div>
    </section>
  );
}

/** `true` for the id of a policy that is not saved. */
function isDraft(policyId: string): boolean {
  return policyId.startsWith('draft_');
}

/** Decision about a tried action, with the policies that matched it. */
function Verdict({ result: { decision, decidedBy, matched = [], moreMatched } }: { result: CheckResult }) {
  return (
    <>
      <p>
        Decision: <span class={`badge effect-${decision}`}>{decision?.replace('_', ' ')}</span>
        {matched.length === 0 && ' No policy matches.'}
      </p>
      <ul>
        {matched.map(({ policyId, policyName, effect, mode, why, message }) => (
          <li key={policyId}>
            {isDraft(policyId) ? 'The policy in the form' : <PolicyLink id={policyId} name={policyName} />}
            {policyId === decidedBy && <strong> decides</strong>}: {effect.replace('_', ' ')}
            {mode === 'log_only' && ' (log only)'}: {why} {message && <q>{message}</q>}
          </li>
        ))}
      </ul>
      {typeof moreMatched === 'number' && moreMatched > 0 && <p class="faint">{moreMatched} more match.</p>}
    </>
  );
}
