import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Asks again for what did not come. */
export function Retry({
  error,
  onRetry,
}: {
  /** Why it did not come, each time anew. */
  error: unknown;
  onRetry: () => void;
}) {
  const [tried, setTried] = useState<{ error: unknown }>();
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const main = button.current?.closest('main');
    // It goes once the answer has come; who pressed it by keyboard reads on in the page.
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
      {/* Read out as a part of the alert, so that who does not see it hears of the same failure twice. */}
      {tried?.error === error ? 'Trying again…' : 'Try again'}
    </button>
  );
}
