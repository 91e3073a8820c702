import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Button to retry a failed request. */
export function Retry({
  error,
  onRetry,
}: {
  /** Error of the last attempt. */
  error: unknown;
  onRetry: () => void;
}) {
  const [tried, setTried] = useState<{ error: unknown }>();
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const main = button.current?.closest('main');
    // The button disappears on success; keyboard users continue in the page.
    return () => void (button.current === document.activeElement && main?.focus({ preventScroll: true }));
  }, []);
  return (
    <button
      ref={button}
      type="button"
      class="quiet"
      onClick={() => {
        setTried({ error });
        onRetry();
      }}
    >
      {/* Part of the alert, so that screen readers announce a repeated failure again. */}
      {tried?.error === error ? 'Trying again…' : 'Try again'}
    </button>
  );
}
