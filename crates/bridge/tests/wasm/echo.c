/* Says back everything it was told, number by number, through its key. */
#include "anabranch_wasm.h"

#define K "{\"name\": \"k"
#define V(n) K #n "\"}, "
#define TEN(d) V(d##0) V(d##1) V(d##2) V(d##3) V(d##4) V(d##5) V(d##6) V(d##7) V(d##8) V(d##9)
ANABRANCH_DRIVER("{\"name\": \"echo\", \"wants\": [\"walls\", \"samples\", \"occupancy\"], \"key\": ["
                 TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10) TEN(11) TEN(12) TEN(13) TEN(14)
                 TEN(15) K "last\"}]}")

static double told[151];
static int count;
static ab_point trajectory[2] = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}};

static void tell(const double *values, int number) {
  for (int i = 0; i < number; i++) told[count++] = values[i];
}
static void tell_one(double value) { tell(&value, 1); }

/* A name by its length, if the zero behind it is where it should be. */
static void tell_name(const char *name, uint32_t bytes) { tell_one(name[bytes] == 0 ? bytes : -1.0); }
static void tell_beside(const ab_beside *beside) {
  tell_one(beside->lane != NULL);
  if (beside->lane == NULL) return;
  tell_name(beside->lane, beside->lane_bytes);
  tell(&beside->apart, 2);
}

static void tell_road(const ab_road *road) {
  tell_name(road->lane, road->lane_bytes);
  tell(&road->station, 5);
  tell_beside(&road->left);
  tell_beside(&road->right);
  tell(&road->then, 3);
  tell_one(road->ahead_count);
  tell((const double *)road->ahead, 6 * (int)road->ahead_count);
  tell_one(road->step);
  tell_one(road->line_count);
  tell((const double *)road->lines, 3 * (int)road->line_count);
}

int32_t anabranch_reset(const ab_begin *begin) {
  count = 0;
  tell_one((double)begin->seed);
  tell(&begin->cycle_s, 17); /* up to the length of the path, all doubles */
  tell_one(begin->section_count);
  tell((const double *)begin->sections, 3 * (int)begin->section_count);
  tell_one(begin->sample_count);
  tell((const double *)begin->samples, 5 * (int)begin->sample_count);
  tell_one(begin->wall_count);
  tell((const double *)begin->walls, 4 * (int)begin->wall_count);
  tell(begin->params, (int)begin->param_count);
  tell_one(begin->scenario[0]);
  tell_one(begin->scenario[begin->scenario_bytes]);
  tell_one(begin->leg_count);
  for (uint32_t i = 0; i < begin->leg_count; i++) {
    tell_name(begin->route[i].lane, begin->route[i].lane_bytes);
    tell(&begin->route[i].from_m, 3);
  }
  return 0;
}

int32_t anabranch_step(const ab_seen *seen, ab_decision *decision) {
  tell(&seen->time, 30); /* up to the size of a cell, all doubles */
  tell_one(seen->occupancy.columns);
  tell_one(seen->occupancy.rows);
  for (uint32_t i = 0; i < seen->occupancy.columns * seen->occupancy.rows; i++) tell_one(seen->occupancy.cells[i]);
  tell_one(seen->object_count);
  tell((const double *)seen->objects, 7 * (int)seen->object_count);
  tell_one(seen->to_end);
  tell((const double *)seen->velocities, 2 * (int)seen->object_count);
  tell_one(seen->road != NULL);
  if (seen->road != NULL) tell_road(seen->road);
  if (count > (int)decision->key_count) return count;
  for (uint32_t i = 0; i < decision->key_count; i++) decision->key[i] = told[i];
  decision->gear = -1;
  decision->completed = 1;
  decision->trajectory = trajectory;
  decision->trajectory_count = 2;
  return 0;
}
