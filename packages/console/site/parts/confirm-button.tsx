import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** A button for what cannot be taken back: it asks once more, in its place, before it does it. */
export function ConfirmButton({
  label,
  question,
  isBusy = false,
  onConfirm,
}: {
  label: string;
  /** What the second press says that it will do. */
  question: string;
  isBusy?: boolean;
  onConfirm: () => void;
}) {
  const [isAsking, setAsking] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const isShown = useRef(false);
  // Who works by keyboard goes on at the button that took the place of the pressed one.
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
        // The second half of a double click and a key that is held down are not an answer to the question.
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
