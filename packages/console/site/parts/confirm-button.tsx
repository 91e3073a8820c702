import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Button for an irreversible action: the first press asks for confirmation in its place. */
export function ConfirmButton({
  label,
  question,
  isBusy = false,
  onConfirm,
}: {
  label: string;
  /** Label of the confirming button. */
  question: string;
  isBusy?: boolean;
  onConfirm: () => void;
}) {
  const [isAsking, setAsking] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const isShown = useRef(false);
  // Keyboard users continue at the button that replaced the pressed one.
  useLayoutEffect(() => {
    if (isShown.current) button.current?.focus();
    isShown.current = true;
  }, [isAsking]);
  if (!isAsking) {
    return (
      <button
        ref={button}
        type="button"
        class="quiet"
        aria-disabled={isBusy}
        onClick={() => isBusy || setAsking(true)}
      >
        {label}
      </button>
    );
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for what a form sends
    <span
      class="buttons"
      role="group"
      aria-label={question}
      onKeyDown={(event) => event.key === 'Escape' && setAsking(false)}
    >
      <button
        ref={button}
        type="button"
        class="danger"
        aria-disabled={isBusy}
        // Ignore the second half of a double click and repeated key events.
        onKeyDown={(event) => event.repeat && event.preventDefault()}
        onClick={(event) => {
          if (isBusy || event.detail > 1) return;
          setAsking(false);
          onConfirm();
        }}
      >
        {question}
      </button>
      <button type="button" class="quiet" onClick={() => setAsking(false)}>
        Cancel
      </button>
    </span>
  );
}
