import { useEffect, useState } from 'preact/hooks';

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
  useEffect(() => {
    if (!isAsking) return;
    const cancel = (event: KeyboardEvent) => event.key === 'Escape' && setAsking(false);
    addEventListener('keydown', cancel);
    return () => removeEventListener('keydown', cancel);
  }, [isAsking]);
  if (!isAsking) {
    return (
      <button type="button" class="quiet" disabled={isBusy} onClick={() => setAsking(true)}>
        {label}
      </button>
    );
  }
  return (
    <span class="buttons">
      <button
        type="button"
        class="danger"
        disabled={isBusy}
        // The person goes on where the first button stood.
        ref={(button) => button?.focus()}
        onClick={() => {
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
