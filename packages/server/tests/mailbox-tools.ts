/** Tools of a benign session of a mail assistant that scores `high`, in the order of their calls. */
export const mailboxTools: readonly string[] = [
  'list_messages',
  'read_message',
  'reply_to_message',
  'archive_message',
  'delete_message',
  'create_calendar_event',
  'send_email',
];
