/** The part of a plugin of Vite that is used here. */
interface Plugin {
  readonly name: string;
  readonly enforce: 'pre';
  transform(code: string, id: string): string | undefined;
}

/**
 * What axe-core finds serious in VitePress 1.6, and what replaces it. In the search, the dialog is a button that contains
 * buttons, an option contains a link, labels differ from the visible text, and keys without a role have labels. In the
 * sidebar, the button of a group contains a second one, and neither says whether the group is open.
 */
const REPLACEMENTS: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'VPLocalSearchBox.vue': [
    ['role="button"', 'role="dialog" aria-modal="true"'],
    [`:aria-owns="results?.length ? 'localsearch-list' : undefined"\n      aria-expanded="true"`, ''],
    ['aria-haspopup="listbox"\n      aria-labelledby="localsearch-label"', ':aria-label="buttonText"'],
    [
      `:id="'localsearch-item-' + index"\n            :aria-selected="selectedIndex === index ? 'true' : 'false'"`,
      '',
    ],
    ['role="option"', 'role="presentation"'],
    [
      `:aria-label="[...p.titles, p.title].join(' > ')"`,
      `:id="'localsearch-item-' + index" role="option" :aria-selected="selectedIndex === index"`,
    ],
    ['<kbd :aria-label', '<kbd role="img" :aria-label'],
  ],
  'VPSidebarItem.vue': [
    [':role="itemRole"', ':role="itemRole" :aria-expanded="collapsible ? !collapsed : undefined"'],
    ['role="button"\n        aria-label="toggle section"', 'aria-hidden="true"'],
    ['@keydown.enter="onCaretClick"\n        tabindex="0"', ''],
  ],
  // The theme draws this key.
  'VPNavBarSearchButton.vue': [['class="DocSearch-Button-Key">K<', 'class="DocSearch-Button-Key key-k"><']],
};

/** Makes the search and the sidebar work with screen readers. */
export function accessibleTheme(): Plugin {
  return {
    name: 'accessible-theme',
    enforce: 'pre',
    transform(code, id) {
      const found = Object.entries(REPLACEMENTS).find(([file]) => id.endsWith(`/${file}`));
      return found?.[1].reduce((changed, [from, to]) => {
        if (!changed.includes(from))
          throw new Error(`${found[0]} of VitePress has changed: ${from} is missing.`);
        return changed.replaceAll(from, to);
      }, code);
    },
  };
}
