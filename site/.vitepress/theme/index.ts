import DefaultTheme from 'vitepress/theme';
import { defineAsyncComponent } from 'vue';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp({ app }: { app: { component(name: string, component: object): void } }): void {
    // Only pages that show it load it.
    app.component(
      'BurstPlanner',
      defineAsyncComponent(() => import('./planner/BurstPlanner.vue')),
    );
  },
};
