import type { Decide } from '@actlog/client';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** Confirmation of a decision that was made with a key: Enter decides, Escape returns to the card. */
export function ConfirmDecision({
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
        // A held-down key must not confirm what it has asked for.
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
