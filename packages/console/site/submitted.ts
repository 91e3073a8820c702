import type { TargetedSubmitEvent } from 'preact';

/** Creates an `onSubmit` handler that passes the form data on and prevents the browser's own submission. */
export function submitted(
  handle: (fields: FormData, form: HTMLFormElement) => void,
): (event: TargetedSubmitEvent<HTMLFormElement>) => void {
  return (event) => {
    event.preventDefault();
    handle(new FormData(event.currentTarget), event.currentTarget);
  };
}
