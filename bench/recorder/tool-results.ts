const results = 20;
const size = 2048;

const sentences = [
  'The quarterly review was moved to the second week of March because two offices are closed.',
  'Please remember that travel has to be approved by the team lead before anything is booked.',
  'A customer in Lyon reported that the export of invoices stops after the first hundred rows.',
  'The new supplier delivers on Tuesdays and Fridays, and invoices at the end of each month.',
  'Notes of the last meeting are in the shared folder, together with the revised schedule.',
];

function resultOf(variant: number): string {
  const records: object[] = [];
  for (let at = 0; JSON.stringify(records).length < size - 150; at += 1) {
    records.push({
      id: `${variant}-${at}`,
      sender: `person${variant * 7 + at}@example.com`,
      date: `2026-0${1 + (at % 9)}-1${variant % 10}`,
      body: sentences[(variant + at) % sentences.length],
    });
  }
  return JSON.stringify(records);
}

const made = Array.from({ length: results }, (_, variant) => resultOf(variant));

/** Returns about 2 KB of JSON like the result of a search: records with fields and a line of prose each. */
export function toolResult(number: number): string {
  return made[number % results] as string;
}
