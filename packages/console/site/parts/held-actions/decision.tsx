import { ConflictError, type Decide, type PendingAction } from '@actlog/client';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useConnection } from '../../connection.ts';
import { useAction } from '../../hooks/use-action.ts';
import { keepPreference, readPreference } from '../../preference.ts';
import { Choice, Field } from '../field.tsx';
import { Problem } from '../problem.tsx';
import { ChangeFields, ChangeList, type Changes } from './argument-changes.tsx';
import { decidedNews, lateNewsOf } from './decision-news.ts';

const buttons = [
  ['approve', 'Approve', 'approve'],
  ['deny', 'Deny', 'danger'],
] as const;

/** Comment field and buttons with which the user decides about an action. */
export function Decision({
  action,
  titleId,
  isOpen,
  asked,
  onAsked,
  onEnd,
}: {
  action: PendingAction;
  /** Id of the element that describes the action, for screen reader users at the buttons. */
  titleId: string;
  /** `true` if the buttons are enabled. */
  isOpen: boolean;
  /** Decision to confirm, because the user pressed its key. */
  asked: Decide['decision'] | undefined;
  /** Called when the user has confirmed or canceled it. */
  onAsked: () => void;
  /** Called with the outcome, decided by this user or by someone faster, and `true` if the action has ended. */
  onEnd: (news: string, hasEnded: boolean) => void;
}) {
  const { client, identity } = useConnection();
  const [comment, setComment] = useState('');
  const [grant, setGrant] = useState<Decide['grant']>();
  const proposed = action.changedArguments ?? null;
  const [changes, setChanges] = useState<Changes>(proposed ?? {});
  const isChanged = Object.keys(changes).length > 0;
  const decide = useAction(async (decision: Decide['decision']) => {
    const given = comment.trim();
    const isGranted = decision === 'approve' && grant !== undefined;
    // If another approver changed them, the decision says which arguments it is for.
    const isForChanges = decision === 'approve' && (isChanged || proposed !== null);
    const body = {
      decision,
      ...(given && { comment: given }),
      ...(isGranted && { grant }),
      ...(isForChanges && { changedArguments: changes }),
    };
    try {
      const decided = await client.guardian.pendingActions.decide(action.id, body);
      onEnd(decidedNews(decided), decided.status !== 'pending');
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      onEnd(lateNewsOf(action, error) ?? error.message, true);
    }
  });
  const hasApproved = action.approvals?.given.some(
    ({ approvedBy, principal }) =>
      approvedBy === identity.id || (identity.role !== undefined && principal === identity.name),
  );
  return (
    <>
      {!hasApproved && <ChangeFields action={action} changes={changes} onChange={setChanges} />}
      <ChangeList action={action} changes={changes} />
      {!hasApproved && <GrantChoice action={action} grant={grant} onChange={setGrant} />}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for what a form sends */}
      <div class="decide" role="group" aria-labelledby={titleId}>
        <Field label="Comment, shown to the agent">
          <input
            value={comment}
            maxLength={2000}
            onInput={(event) => setComment(event.currentTarget.value)}
          />
        </Field>
        {asked !== undefined && !(asked === 'approve' && hasApproved) && (
          <ConfirmDecision
            decision={asked}
            name={`${action.action?.toolName} by ${action.agentId}${asked === 'approve' && isChanged ? ' with changes' : ''}`}
            isBusy={decide.isBusy}
            onConfirm={() => {
              onAsked();
              decide.run(asked);
            }}
            onCancel={onAsked}
          />
        )}
        {asked === undefined &&
          buttons
            .filter(([decision]) => decision === 'deny' || !hasApproved)
            .map(([decision, words, look]) => (
              <button
                key={decision}
                type="button"
                class={look}
                aria-disabled={!isOpen || decide.isBusy}
                onClick={() => isOpen && decide.run(decision)}
              >
                {decision === 'approve' && isChanged ? 'Approve with changes' : words}
              </button>
            ))}
      </div>
      <Problem error={decide.error} />
    </>
  );
}

/** Confirmation of a decision that was made with a key: Enter decides, Escape returns to the card. */
function ConfirmDecision({
  decision,
  name,
  isBusy,
  onConfirm,
  onCancel,
}: {
  decision: Decide['decision'];
  /** Name of the action, such as "refund by billing". */
  name: string;
  isBusy: boolean;
  onConfirm: () => void;
  onCancel: () => void;
}) {
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => button.current?.focus(), [decision]);
  const question = `${decision === 'approve' ? 'Approve' : 'Deny'} ${name}?`;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for what a form sends
    <span
      class="buttons"
      role="group"
      aria-label={question}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onCancel();
      }}
    >
      <button
        ref={button}
        type="button"
        class={decision === 'approve' ? 'approve' : 'danger'}
        aria-disabled={isBusy}
        // A held-down key must not confirm its own request.
        onKeyDown={(event) => event.repeat && event.preventDefault()}
        onClick={() => isBusy || onConfirm()}
      >
        {question}
      </button>
      <button type="button" class="quiet" onClick={onCancel}>
        Cancel
      </button>
    </span>
  );
}

type Grant = NonNullable<Decide['grant']>;

const durations = { 900: '15 minutes', 3600: '1 hour', 14400: '4 hours', 86400: '1 day' };

/** Fields with which the approver lets later actions of the session run as well; by default only this action. */
function GrantChoice({
  action: { action, sessionId, singleUse },
  grant,
  onChange,
}: {
  action: PendingAction;
  /** Undefined for only this action. */
  grant: Grant | undefined;
  onChange: (grant: Grant | undefined) => void;
}) {
  const [durationSeconds, setDuration] = useState(3600);
  const [maxUses, setMaxUses] = useState<number>();
  const scopes = {
    '': 'only this action',
    action: 'the same action again in this session',
    tool: `any call of ${action?.toolName} in this session`,
  };
  const change = (scope: string, seconds: number, uses: number | undefined) => {
    const known = scope === 'action' || scope === 'tool' ? scope : undefined;
    onChange(known && { for: known, durationSeconds: seconds, ...(uses !== undefined && { maxUses: uses }) });
  };
  // The service refuses a grant for these.
  if (typeof sessionId !== 'string' || singleUse === true) return null;
  return (
    <div class="grant">
      <Choice
        label="An approval is for"
        name="grant"
        options={scopes}
        value={grant?.for ?? ''}
        onChange={(scope) => change(scope, durationSeconds, maxUses)}
      />
      {grant && (
        <>
          <Choice
            label="For"
            name="duration"
            options={durations as Readonly<Record<string, string>>}
            value={String(durationSeconds)}
            onChange={(value) => {
              setDuration(Number(value));
              change(grant.for, Number(value), maxUses);
            }}
          />
          <Field label="At most" hint="actions; empty: any number">
            <input
              type="number"
              min={1}
              max={1000}
              value={maxUses ?? ''}
              onInput={({ currentTarget: { value, valueAsNumber } }) => {
                const uses = value === '' ? undefined : valueAsNumber;
                setMaxUses(uses);
                change(grant.for, durationSeconds, uses);
              }}
            />
          </Field>
        </>
      )}
    </div>
  );
}

/** A decision that the user has to confirm. */
export interface AskedDecision {
  readonly id: string;
  readonly decision: Decide['decision'];
}

const preference = 'shortcuts';

function cardOf(id: string | undefined): HTMLElement | null {
  return document.getElementById(`action-${id}`);
}

/** Keyboard shortcuts for a list of held actions, with their legend. */
export function DecisionKeys({
  actions,
  onAsk,
  onSelect,
}: {
  /** Actions that can be decided, in the order in which they are shown. */
  actions: readonly PendingAction[];
  /** Called when the user wants to decide the focused action. */
  onAsk: (asked: AskedDecision) => void;
  /** Selects the focused action, or no longer; undefined if actions cannot be selected. */
  onSelect: ((id: string) => void) | undefined;
}) {
  const [isOn, setOn] = useState(readPreference(preference) !== 'off');
  const focused = () => actions.findIndex(({ id }) => cardOf(id)?.contains(document.activeElement));
  const move = (step: 1 | -1) => {
    const from = focused();
    const to = from === -1 ? (step === 1 ? 0 : actions.length - 1) : from + step;
    const card = cardOf(actions[Math.min(Math.max(to, 0), actions.length - 1)]?.id);
    card?.focus({ preventScroll: true });
    card?.scrollIntoView({ block: 'nearest' });
  };
  const withFocused = (act: (id: string) => void) => () => {
    const id = actions[focused()]?.id;
    if (id !== undefined) act(id);
  };
  usePageKeys(
    isOn
      ? {
          j: () => move(1),
          k: () => move(-1),
          a: withFocused((id) => onAsk({ id, decision: 'approve' })),
          d: withFocused((id) => onAsk({ id, decision: 'deny' })),
          x: withFocused((id) => onSelect?.(id)),
        }
      : undefined,
  );
  return (
    <KeyLegend
      isOn={isOn}
      canSelect={onSelect !== undefined}
      onSwitch={(next) => {
        keepPreference(preference, next ? 'on' : 'off');
        setOn(next);
      }}
    />
  );
}

/** Elements that take letters themselves. */
const takesLetters = 'input:not([type=checkbox]), select, textarea, dialog, [contenteditable]';

/** Key that begins a shortcut of two keys, such as `g a`. */
const leader = 'g';

/** Time in which the second key of such a shortcut follows, in milliseconds; the default of tinykeys. */
const sequenceMs = 1000;

/**
 * Calls the handler of a pressed key while the component is shown. Ignores keys that the user types into a field or
 * presses together with a modifier, repeats of a held-down key, and the second key of a shortcut of every page.
 *
 * @param handlers - handlers by key; undefined for none while shortcuts are off
 */
function usePageKeys(handlers: Readonly<Record<string, () => void>> | undefined): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  // Before the first frame, so that no key is lost of who types while the page appears.
  useLayoutEffect(() => {
    let ledAtMs = Number.NEGATIVE_INFINITY;
    const press = (event: KeyboardEvent) => {
      const { key, target, timeStamp, repeat, ctrlKey, metaKey, altKey, defaultPrevented } = event;
      if (repeat || ctrlKey || metaKey || altKey || defaultPrevented) return;
      if (target instanceof Element && target.closest(takesLetters)) return;
      const isSecond = timeStamp - ledAtMs < sequenceMs;
      ledAtMs = key === leader ? timeStamp : Number.NEGATIVE_INFINITY;
      const handle = latest.current && Object.hasOwn(latest.current, key) ? latest.current[key] : undefined;
      if (!handle || isSecond) return;
      event.preventDefault();
      handle();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

const keys = [
  ['j', 'next'],
  ['k', 'previous'],
  ['a', 'approve'],
  ['d', 'deny'],
  ['x', 'select'],
] as const;

/** Legend of the keyboard shortcuts, with a checkbox that turns them off (WCAG 2.2, 2.1.4). */
function KeyLegend({
  isOn,
  canSelect,
  onSwitch,
}: {
  isOn: boolean;
  /** `true` if several actions can be decided at once. */
  canSelect: boolean;
  onSwitch: (isOn: boolean) => void;
}) {
  return (
    <div class="key-legend">
      <label class="check">
        <input type="checkbox" checked={isOn} onInput={(event) => onSwitch(event.currentTarget.checked)} />
        <span>Keyboard shortcuts</span>
      </label>
      {isOn && (
        <ul aria-label="Keyboard shortcuts">
          {keys
            .filter(([key]) => key !== 'x' || canSelect)
            .map(([key, words]) => (
              <li key={key}>
                <kbd>{key}</kbd> {words}
              </li>
            ))}
          <li>
            <kbd>Enter</kbd> confirm
          </li>
          <li>
            <kbd>Esc</kbd> cancel
          </li>
        </ul>
      )}
    </div>
  );
}
