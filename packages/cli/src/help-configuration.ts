import { type Command, Help, type HelpConfiguration, type Option } from 'commander';

/** Headings of options that many commands share. They come after the options of the command itself. */
const sharedGroups: readonly string[] = ['Output:', 'Connection:', 'Options:'];

/** Configuration of the help of every command. */
export const helpConfiguration: HelpConfiguration = {
  groupItems<Item extends Command | Option>(
    unsorted: Item[],
    visible: Item[],
    groupOf: (item: Item) => string,
  ): Map<string, Item[]> {
    const groups = new Help().groupItems(unsorted, visible, groupOf);
    const placeOf = ([heading]: [string, unknown]) => sharedGroups.indexOf(heading);
    return new Map([...groups].sort((left, right) => placeOf(left) - placeOf(right)));
  },
};
