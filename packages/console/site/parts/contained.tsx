import type { ComponentChildren } from 'preact';
import { useErrorBoundary } from 'preact/hooks';

/**
 * Keeps a part that cannot be drawn from taking the rest of the page with it: a service may answer in a shape that
 * the specification leaves open and the page does not know.
 */
export function Contained({ children }: { children: ComponentChildren }) {
  const [error, retry] = useErrorBoundary();
  if (error === undefined) return <>{children}</>;
  return (
    <div class="problem" role="alert">
      <p>This cannot be shown: the service answered something that this page cannot read.</p>
      <p class="faint">{String(error)}</p>
      <button type="button" class="quiet" onClick={retry}>
        Try again
      </button>
    </div>
  );
}
