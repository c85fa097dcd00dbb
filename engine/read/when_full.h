#pragma once

namespace corail {

/// What a read does where a budget has no room for it.
enum class WhenFull { kWait, kRefuse };

}  // namespace corail
