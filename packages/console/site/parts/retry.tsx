import { useLayoutEffect, useRef } from 'preact/hooks';

/** Asks again for what did not come. */
export function Retry({ onRetry }: { onRetry: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const main = button.current?.closest('main');
    // It goes once the answer has come; who pressed it by keyboard reads on in the page.
    return () => void (button.current === document.activeElement && main?.focus({ preventScroll: true }));
  }, []);
  return (
    <button ref={button} type="button" class="quiet" onClick={onRetry}>
      Try again
    </button>
  );
}
