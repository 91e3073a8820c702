import ArrowRight from 'lucide/dist/esm/icons/arrow-right.mjs';
import { type ComponentChildren, Fragment, type RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { listFields, type PolicyFields, readPolicy } from '../../policy-draft.ts';
import { type DescribedPolicy, lengthPattern, policySentence } from '../../policy-sentence.ts';
import { Choice, Field, FieldErrorsContext, submitted } from '../field.tsx';
import { Icon } from '../icon.tsx';
import { useSuggestions } from '../sessions/session-filters.tsx';
import { ApprovalFields } from './approval-fields.tsx';
import { ArgumentClauses, ConditionField, conditionState } from './condition-builder.tsx';
import { NamesField } from './name-chips.tsx';

const none: ReadonlyMap<string, string> = new Map();

const effects = { deny: 'deny', require_approval: 'ask a person', allow: 'allow' };

const modes = { log_only: 'only log it', enforce: 'enforce it' };

/** Names of the fields in each fold, which opens if one of them is set or invalid. */
const folds = {
  approval: [
    'requiredApprovers',
    'approverGroups',
    'approverKeys',
    'timeout',
    'onTimeout',
    'singleUse',
    'notRequester',
    'editable',
    'verifiedPrincipal',
  ],
  narrower: [
    'frameworks',
    'environments',
    'rateMax',
    'rateWindow',
    'ratePer',
    'scheduleZone',
    'scheduleDays',
    'scheduleFrom',
    'scheduleTo',
  ],
  more: ['description', 'priority'],
} as const satisfies Record<string, readonly (keyof PolicyFields)[]>;

/** Form with a policy as a sentence whose parts are controls, and the rest of its fields in folds. */
export function PolicyForm({
  fields,
  isNew,
  isReadOnly,
  isBusy,
  errors,
  reader,
  question,
  onChange,
  onSave,
  onTry,
}: {
  /** Fields at first. */
  fields: PolicyFields;
  /** `true` for a policy that does not exist yet. */
  isNew: boolean;
  isReadOnly: boolean;
  isBusy: boolean;
  /** Messages about single fields; the first of these fields gets the focus. */
  errors: ReadonlyMap<string, string> | undefined;
  /** Is set to a function that returns the fields as they are now. */
  reader: RefObject<(() => PolicyFields) | undefined>;
  /** Question in place of the buttons, before a policy is saved. */
  question: ComponentChildren;
  /** Called when the user changes a field. */
  onChange: () => void;
  onSave: (fields: PolicyFields) => void;
  /** Tries the policy on the past; nothing is saved. */
  onTry: (fields: PolicyFields) => void;
}) {
  const [draft, setDraft] = useState(() => readPolicy(fields));
  const [condition, setCondition] = useState(() => conditionState(fields.condition));
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => {
    if (errors !== undefined) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [errors]);
  // Fields that only some effects use keep their value while they are hidden.
  const withHidden = (given: FormData): PolicyFields => ({
    ...fields,
    ...(Object.fromEntries(given) as Partial<PolicyFields>),
    ...Object.fromEntries(
      listFields.filter((name) => given.has(name)).map((name) => [name, given.getAll(name).join('\n')]),
    ),
  });
  const read = () => withHidden(new FormData(form.current ?? undefined));
  reader.current = read;
  const changed = () => {
    if (isReadOnly) return;
    setDraft(readPolicy(read()));
    onChange();
  };
  // The condition is in the form after the next rendering.
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    if (!isFirst.current) changed();
    isFirst.current = false;
  }, [condition]);
  const agents = useSuggestions('agentId');
  const tools = useSuggestions('toolName');
  const isOpen = (fold: keyof typeof folds) =>
    folds[fold].some((name) => fields[name] !== defaults[name] || errors?.has(name));
  return (
    <FieldErrorsContext.Provider value={errors ?? none}>
      <form
        ref={form}
        class="policy-form"
        onInput={changed}
        onChange={changed}
        // A browser cannot show what is wrong with a field in a closed fold.
        onInvalidCapture={({ target }) => {
          const fold = (target as HTMLElement).closest('details');
          if (fold) fold.open = true;
        }}
        onSubmit={submitted((given) => onSave(withHidden(given)))}
      >
        <fieldset class="sentence-builder" disabled={isReadOnly}>
          <legend class="hidden">Policy in a sentence</legend>
          <span class="clause">
            <span class="word">When</span>
            <NamesField
              label="Agents"
              isInline
              name="agents"
              initial={fields.agents}
              placeholder="any agent"
              suggestions={agents}
              isReadOnly={isReadOnly}
              onChange={changed}
            />
          </span>
          <span class="clause">
            <span class="word">calls</span>
            <NamesField
              label="Tools"
              isInline
              name="tools"
              initial={fields.tools}
              placeholder="any tool"
              suggestions={tools}
              isReadOnly={isReadOnly}
              onChange={changed}
            />
          </span>
          <ArgumentClauses state={condition} isReadOnly={isReadOnly} onChange={setCondition} />
          <span class="clause">
            <span class="word">
              <Icon of={ArrowRight} />
            </span>
            <Choice label="Effect" name="effect" options={effects} value={fields.effect} isInline />
            <span class="word">and</span>
            <Choice label="Mode" name="mode" options={modes} value={fields.mode} isInline />
          </span>
          <ConditionField state={condition} isReadOnly={isReadOnly} onChange={setCondition} />
          <p class="in-words">
            <PolicySentence policy={draft} />
          </p>
        </fieldset>
        <fieldset class="grid plain" disabled={isReadOnly}>
          <legend class="hidden">Name and message</legend>
          <Field label="Name">
            <input name="name" required maxLength={200} defaultValue={fields.name} />
          </Field>
          <Field label="Message" hint="Shown to the agent and its model when the policy applies.">
            <textarea name="message" rows={1} maxLength={1000} defaultValue={fields.message} />
          </Field>
        </fieldset>
        {draft.effect === 'require_approval' && (
          <details class="fold" open={isOpen('approval')}>
            <summary>Who approves, for how long, and what they may change</summary>
            <ApprovalFields fields={fields} isReadOnly={isReadOnly} onChange={changed} />
          </details>
        )}
        <details class="fold" open={isOpen('narrower')}>
          <summary>Only in some environments, above a rate, or at certain times</summary>
          <NarrowingFields fields={fields} isReadOnly={isReadOnly} onChange={changed} />
        </details>
        <details class="fold" open={isOpen('more')}>
          <summary>Description and priority</summary>
          <fieldset class="grid" disabled={isReadOnly}>
            <legend class="hidden">Other fields</legend>
            <Field label="Description">
              <textarea name="description" rows={2} maxLength={2000} defaultValue={fields.description} />
            </Field>
            <Field
              label="Priority"
              hint="Order within one effect, highest first. Deny takes precedence over approval, approval over allow."
            >
              <input name="priority" type="number" min={-1000} max={1000} defaultValue={fields.priority} />
            </Field>
          </fieldset>
        </details>
        {!isReadOnly &&
          (question ?? (
            <p class="buttons">
              <button type="submit" aria-disabled={isBusy}>
                {isNew ? 'Create' : 'Save'}
              </button>
              <button
                type="button"
                class="quiet"
                onClick={({ currentTarget: { form } }) => {
                  if (form?.reportValidity()) onTry(withHidden(new FormData(form)));
                }}
              >
                Try on the last 30 days
              </button>
            </p>
          ))}
      </form>
    </FieldErrorsContext.Provider>
  );
}

/** Values of the fields in folds that open no fold. */
const defaults: Readonly<Partial<Record<keyof PolicyFields, string>>> = {
  requiredApprovers: '1',
  approverGroups: '',
  approverKeys: '',
  timeout: '',
  onTimeout: 'deny',
  singleUse: '',
  notRequester: '',
  editable: '',
  verifiedPrincipal: '',
  frameworks: '',
  environments: '',
  rateMax: '',
  rateWindow: '1 minute',
  ratePer: 'agent',
  scheduleZone: '',
  scheduleDays: '',
  scheduleFrom: '',
  scheduleTo: '',
  description: '',
  priority: '0',
};

/** A policy in one sentence. Names stand out, and are shown as they are. */
export function PolicySentence({ policy }: { policy: DescribedPolicy }) {
  return (
    <span class="policy-sentence">
      {policySentence(policy).map(({ text, kind }, index) => {
        if (kind === undefined) return text;
        if (kind === 'code') return <code key={index}>{text}</code>;
        if (kind === 'arrow') {
          return (
            <Fragment key={index}>
              {' '}
              <Icon of={ArrowRight} />
              <span class="hidden">:</span>{' '}
            </Fragment>
          );
        }
        if (kind !== 'name') {
          return (
            <strong key={index} class={`effect-${kind}`}>
              {text}
            </strong>
          );
        }
        return (
          <bdi key={index} translate={false}>
            {text}
          </bdi>
        );
      })}
    </span>
  );
}

/** Fields of a policy's form that narrow the actions which it applies to. */
function NarrowingFields({
  fields,
  isReadOnly,
  onChange,
}: {
  fields: PolicyFields;
  isReadOnly: boolean;
  onChange: () => void;
}) {
  return (
    <fieldset class="grid" disabled={isReadOnly}>
      <legend class="hidden">Only in some cases</legend>
      <NamesField
        label="Environments"
        hint="As checks name them, such as production."
        name="environments"
        initial={fields.environments}
        placeholder="any"
        isReadOnly={isReadOnly}
        onChange={onChange}
      />
      <NamesField
        label="Frameworks"
        hint="As checks name them, such as langchain."
        name="frameworks"
        initial={fields.frameworks}
        placeholder="any"
        isReadOnly={isReadOnly}
        onChange={onChange}
      />
      <Field label="More than" hint="Number of actions. Empty: at once.">
        <input name="rateMax" type="number" min={0} max={1_000_000} defaultValue={fields.rateMax} />
      </Field>
      <Field label="In" hint="Such as 1 min or 24 hours; at most one day.">
        <input
          name="rateWindow"
          pattern={lengthPattern}
          title="A length of time with its unit, such as 1 min"
          required
          autocomplete="off"
          defaultValue={fields.rateWindow}
        />
      </Field>
      <Choice
        label="Counted for each"
        name="ratePer"
        options={{ agent: 'agent', session: 'session', tenant: 'tenant' }}
        value={fields.ratePer}
      />
      <Field label="Time zone" hint="Such as Europe/Berlin. Empty: at all times.">
        <input name="scheduleZone" maxLength={100} spellcheck={false} defaultValue={fields.scheduleZone} />
      </Field>
      <Field label="Days" hint="Such as mon, tue, wed. Empty: every day.">
        <input name="scheduleDays" spellcheck={false} defaultValue={fields.scheduleDays} />
      </Field>
      <Field label="From" hint="Such as 09:00. Empty: midnight.">
        <input name="scheduleFrom" maxLength={5} defaultValue={fields.scheduleFrom} />
      </Field>
      <Field label="To" hint="Such as 17:30; before the start, it is on the next day.">
        <input name="scheduleTo" maxLength={5} defaultValue={fields.scheduleTo} />
      </Field>
    </fieldset>
  );
}
