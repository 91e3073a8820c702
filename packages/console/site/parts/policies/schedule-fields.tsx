import type { PolicyFields } from '../../policy-draft.ts';
import { Field } from '../field.tsx';

/** Fields of a policy's form about the times at which it applies. */
export function ScheduleFields({ fields, isReadOnly }: { fields: PolicyFields; isReadOnly: boolean }) {
  return (
    <fieldset class="grid" disabled={isReadOnly}>
      <legend>Only at certain times</legend>
      <Field label="Time zone" hint="Such as Europe/Berlin. Empty: at all times.">
        <input name="scheduleZone" maxLength={100} spellcheck={false} defaultValue={fields.scheduleZone} />
      </Field>
      <Field label="Days" hint="Such as mon, tue, wed. Empty: every day.">
        <input name="scheduleDays" spellcheck={false} defaultValue={fields.scheduleDays} />
      </Field>
      <Field label="From" hint="Such as 09:00. Empty: midnight.">
        <input name="scheduleFrom" maxLength={5} defaultValue={fields.scheduleFrom} />
      </Field>
      <Field label="To" hint="Such as 17:30; before the start, it is on the next day.">
        <input name="scheduleTo" maxLength={5} defaultValue={fields.scheduleTo} />
      </Field>
    </fieldset>
  );
}
