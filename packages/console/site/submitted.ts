import type { TargetedSubmitEvent } from 'preact';

/** For `onSubmit`: hands over what a form holds, and keeps the browser from sending it by itself. */
export function submitted(
  handle: (fields: FormData, form: HTMLFormElement) => void,
): (event: TargetedSubmitEvent<HTMLFormElement>) => void {
  return (event) => {
    event.preventDefault();
    handle(new FormData(event.currentTarget), event.currentTarget);
  };
}
